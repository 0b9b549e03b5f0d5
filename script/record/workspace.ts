/** The developer's machine for the agents: a home folder, a project under version control, a small environment. */
import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Project } from './scenario.ts';

const GITCONFIG = '[user]\n\tname = Robin Vale\n\temail = robin@vale.example\n[init]\n\tdefaultBranch = main\n';

/**
 * Inherits nothing from the shell that starts a recording, so that no credential reaches an agent, and no name or path of the
 * recording machine reaches a file.
 */
export function environment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    HOME: home,
    USER: 'dev',
    PATH: `${home}/.local/bin:/usr/bin:/bin`,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    ...extra,
  };
}

/** Writes the project to ~/code and commits it, so that the agents have a history and can show differences. */
export async function createProject(home: string, project: Project): Promise<string> {
  const folder = join(home, 'code', project.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(home, '.gitconfig'), GITCONFIG);
  for (const [path, content] of Object.entries(project.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const git = (...args: string[]): void => {
    execFileSync('git', args, { cwd: folder, env: environment(home), stdio: 'ignore' });
  };
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', `Start ${project.name}`);
  return folder;
}
