import { join } from 'node:path';
import { readJson, stateFolder, writeJson } from '../config.ts';
import type { Context } from '../context.ts';

/** Sessions that their person has taken out of capturing, as `agent session`. */
export type Skipped = ReadonlySet<string>;

export const nameSession = (agent: string, session: string): string => `${agent} ${session}`;

export const skippedPath = (context: Pick<Context, 'variables' | 'home'>): string =>
  join(stateFolder(context), 'skipped.json');

export const readSkipped = (context: Pick<Context, 'variables' | 'home'>): Skipped =>
  new Set(readJson<string[]>(skippedPath(context)));

export function writeSkipped(context: Pick<Context, 'variables' | 'home'>, skipped: Skipped): void {
  writeJson(skippedPath(context), [...skipped]);
}
