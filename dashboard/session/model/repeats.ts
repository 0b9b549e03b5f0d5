import type { AnswerEntry, Entry } from '../../../transcript/entry/entry.ts';

/** The copies are 9 to 20 ms apart. */
const MAX_APART_MS = 1_000;

/**
 * Recognizes reasoning that its agent recorded twice. Codex 0.144 wrote four of ten thoughts as two records with ids of their own,
 * one right after the other.
 */
export function createRepeats() {
  const recent = new Map<string | undefined, AnswerEntry[]>();
  return {
    /** Takes the next entry, in order. */
    isRepeat(entry: Entry): boolean {
      const { kind, lane } = entry;
      if (kind !== 'reasoning') {
        // Between two thoughts of the same words, the agent did something.
        if (kind !== 'quiet' && kind !== 'usage') recent.delete(lane);
        return false;
      }
      const before = recent.get(lane) ?? [];
      if (before.some((other) => isCopy(entry, other))) return true;
      recent.set(lane, [...before, entry]);
      return false;
    },
  };
}

const isCopy = (entry: AnswerEntry, other: AnswerEntry): boolean =>
  entry.timed &&
  other.timed &&
  entry.time - other.time < MAX_APART_MS &&
  entry.messageId !== undefined &&
  other.messageId !== undefined &&
  entry.messageId !== other.messageId &&
  entry.length === other.length &&
  entry.text === other.text;
