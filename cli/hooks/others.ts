import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import type { AgentHooks } from './agent-hooks.ts';
import { readBytes } from './file.ts';
import { filesOf } from './plan.ts';
import { hookPath, SIGNATURE } from './script.ts';

/** Another installation of capture, which has a state folder of its own. */
export interface OtherInstallation {
  state: string;
  /** A file of an agent that runs its hook. */
  path: string;
}

/** Other installations whose hooks the agents run; not those whose state folder is gone, since their hooks do nothing. */
export function findOthers(
  context: Pick<Context, 'variables' | 'home' | 'platform'>,
  rows: readonly AgentHooks[],
): OtherInstallation[] {
  const others = new Map<string, OtherInstallation>();
  const own = realPath(stateFolder(context));
  for (const row of rows) {
    for (const { path } of filesOf(context, row)) {
      for (const state of findStates(readText(path), row.id)) {
        const isOther = realPath(state) !== own && readText(hookPath(state, context.platform)).includes(SIGNATURE);
        if (isOther) others.set(state, { state, path });
      }
    }
  }
  return [...others.values()];
}

/** The state folders of the hooks in a text, which may be JSON: `/home/u/.capture` for `/home/u/.capture/bin/hook codex`. */
function findStates(text: string, agent: string): Set<string> {
  const plain = text.replaceAll('\\\\', '\\').replaceAll('\\"', '"');
  const command = new RegExp(
    `'(/[^'\\n]+)/bin/hook' ${agent}\\b|(/[^\\s'"]+)/bin/hook ${agent}\\b|"([^"\\n]+)\\\\bin\\\\hook\\.cmd" ${agent}\\b`,
    'g',
  );
  return new Set([...plain.matchAll(command)].map(([, quoted, bare, windows]) => quoted ?? bare ?? windows ?? ''));
}

function readText(path: string): string {
  try {
    return readBytes(path)?.toString('utf8') ?? '';
  } catch {
    return '';
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(join(path));
  } catch {
    return path;
  }
}
