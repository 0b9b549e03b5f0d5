import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Variables } from '../agents/agent.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { readBytes, removeEmptyFolders, replaceFile } from '../hooks/file.ts';
import { hookPath, writeScript } from '../hooks/script.ts';
import { removeCopies, withLastingProgram } from './lasting-program.ts';
import { variablesForDaemon } from './variables.ts';

const EXECUTABLE = 0o755;

/** Puts the hook's script, and the folders it writes to, into the state folder. */
export function installScript(context: Context, { startsDaemon }: { startsDaemon: boolean }): void {
  const { platform, program, variables } = withLastingProgram(context);
  const state = stateFolder(context);
  const path = hookPath(state, platform);
  const script = writeScript({
    state,
    platform,
    ...(startsDaemon && { start: [...program, 'run', '--quiet'], variables: variablesForDaemon(variables) }),
    tools: findTools(variables),
  });
  for (const folder of ['notes', 'inbox/cursor']) mkdirSync(join(state, folder), { recursive: true, mode: 0o700 });
  // Written anew only where it differs: a shell may be reading it.
  if (readBytes(path)?.toString('utf8') !== script) replaceFile(path, Buffer.from(script), EXECUTABLE);
}

/** Not every system has them in /bin. */
function findTools({ PATH = '' }: Variables): string {
  const folders = ['/bin', '/usr/bin', ...PATH.split(delimiter).filter(isAbsolute)];
  const hasTools = (folder: string) => ['cat', 'mv', 'rm'].every((name) => existsSync(join(folder, name)));
  return folders.find(hasTools) ?? '/bin';
}

/** What came in and was not read yet stays. */
export function removeScript(context: Context): void {
  const state = stateFolder(context);
  rmSync(hookPath(state, context.platform), { force: true });
  removeCopies(state);
  rmSync(join(state, 'notes'), { recursive: true, force: true });
  removeEmptyFolders(['bin', 'hooks', 'inbox', 'inbox/cursor'].map((folder) => join(state, folder)));
}
