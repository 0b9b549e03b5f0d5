import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import type { AgentHooks, HookFile } from './agent-hooks.ts';
import { type Change, planFile, type Refusal } from './change.ts';
import { type Books, takeOutHooks } from './install.ts';
import { findDeed, readDeeds } from './ledger.ts';
import type { IsOurs } from './merge.ts';
import { guardedCommand, mentionsHook, plainCommand } from './script.ts';

type Where = Pick<Context, 'variables' | 'home' | 'platform'>;

/** What is to become of the files of an agent's hooks. Reads, and writes nothing. */
export function planHooks(context: Where, row: AgentHooks): (Change | Refusal)[] {
  const ledger = readDeeds(stateFolder(context), row.id);
  return filesOf(context, row).map((file) => planFile(file, isOursOn(context), findDeed(ledger, file.path)));
}

/** The files of an agent's hooks, as they should be. */
export function filesOf(context: Where, { id, folder, files }: AgentHooks): HookFile[] {
  const { variables, home, platform } = context;
  const state = stateFolder(context);
  return files({
    folder: folder(variables, home),
    platform,
    command: guardedCommand(state, platform, id),
    plainCommand: plainCommand(state, platform, id),
  });
}

export const booksOf = (context: Where, owner: string): Books => ({
  state: stateFolder(context),
  owner,
  takeOut: takeOutHooks(isOursOn(context)),
});

export const isOursOn = (context: Where): IsOurs => mentionsHook(stateFolder(context), context.platform);
