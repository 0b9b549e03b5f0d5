import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Found } from './discover.ts';
import type { Unread } from './identify.ts';

/**
 * What the hooks of an agent told of a conversation: `sessions/<agent>/<conversation>.jsonl` in the state folder, and
 * beside it `<conversation>.told` once that says what the transcript does.
 */
export const logFolder = (state: string, agent: string): string => join(state, 'sessions', agent);

/** The name of a conversation's files, whatever its id looks like. */
export const logName = (conversation: string): string =>
  /^[\w-]{1,128}$/.test(conversation) ? conversation : hash('sha256', conversation).slice(0, 32);

/** While hooks may still tell the rest of it. */
const QUIET_MS = 60_000;

type Told = 'none' | 'all' | 'tools' | 'unclear';

/**
 * How much of a transcript the agent's hooks have told: none of it, all, the tools alone, or it cannot be said yet, since
 * the conversation goes on and a prompt may be told at any moment.
 */
export function findTold({ agent, path }: Found, state: string | undefined, now: number): Told {
  const conversation = agent.hookedAs?.(path);
  if (conversation === undefined || state === undefined) return 'none';
  const log = join(logFolder(state, agent.id), logName(conversation));
  if (statSync(`${log}.told`, { throwIfNoEntry: false })) return 'all';
  const stat = statSync(`${log}.jsonl`, { throwIfNoEntry: false });
  if (stat === undefined) return 'none';
  return now - stat.mtimeMs < QUIET_MS ? 'unclear' : 'tools';
}

/** The parser leaves to the hooks what they told. */
export const markTold = (file: Unread, told: Told): Unread =>
  told === 'tools' ? { ...file, origin: { ...file.origin, hooked: true } } : file;
