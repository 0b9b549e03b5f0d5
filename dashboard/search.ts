/** The query strings of the pages, read leniently: what makes no sense is as if it were not there. */

export interface FrameSearch {
  /** Absent: live. */
  plane?: 'test' | 'all' | undefined;
}

export interface SessionsSearch {
  environment?: string | undefined;
  agent?: string | undefined;
}

export interface SessionSearch {
  /** The event that is looked at, by its sequence number. */
  e?: number | undefined;
}

type Given = Record<string, unknown>;

export const readFrameSearch = ({ plane }: Given): FrameSearch =>
  plane === 'test' || plane === 'all' ? { plane } : {};

export const readSessionsSearch = ({ environment, agent }: Given): SessionsSearch => ({
  ...(isWord(environment) && { environment }),
  ...(isWord(agent) && { agent }),
});

export function readSessionSearch({ e }: Given): SessionSearch {
  const sequence = Number(e);
  return Number.isSafeInteger(sequence) && sequence > 0 ? { e: sequence } : {};
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== '';
