import { join } from 'node:path';
import type { Variables } from '../agent.ts';

/** What moves the folders below. */
export const TASK_VARIABLES = ['VSCODE_PORTABLE', 'XDG_CONFIG_HOME'];

/** Where an extension of VS Code and of its kin keeps its tasks, for every program and system. */
export function taskFolders(extension: string, variables: Variables, home: string): string[] {
  const bases = [
    variables.XDG_CONFIG_HOME || join(home, '.config'),
    join(home, 'Library', 'Application Support'),
    variables.APPDATA || join(home, 'AppData', 'Roaming'),
  ];
  const users = [
    ...bases.flatMap((base) => PROGRAMS.map((program) => join(base, program, 'User'))),
    ...SERVERS.map((server) => join(home, server, 'data', 'User')),
    join(home, '.local', 'share', 'code-server', 'User'),
    ...(variables.VSCODE_PORTABLE ? [join(variables.VSCODE_PORTABLE, 'user-data', 'User')] : []),
  ];
  return users.map((user) => join(user, 'globalStorage', extension, 'tasks'));
}

const PROGRAMS = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf'];

/** What runs on a machine that one works on from another. */
const SERVERS = ['.vscode-server', '.vscode-server-insiders', '.vscodium-server', '.cursor-server', '.windsurf-server'];
