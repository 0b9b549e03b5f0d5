import type { SessionEvent } from '../../../contract/event.ts';
import type { Entry } from '../../../transcript/entry/entry.ts';
import { asText } from '../../../transcript/entry/value.ts';
import { wholePayload } from './whole.ts';

/** The whole texts of messages. The index only has their beginnings. */
export interface Texts {
  get(sequence: number): string | undefined;
  /** Reads the text of a message soon. @returns a function that cancels the request before it starts */
  want(entry: Pick<Entry, 'sequence' | 'span'>, whenThere: () => void): () => void;
}

type ReadWindow = (from: number, limit: number) => Promise<readonly SessionEvent[]>;

/** Messages that are scrolled past within this time are not read. */
const WAIT_MS = 60;
/** Two messages with at most this many events between them are read in one request. */
const NEAR = 6;
const MAX_IN_WINDOW = 100;
const MAX_CHARACTERS = 4_000_000;

interface Wish {
  sequence: number;
  span: number;
  whenThere: () => void;
}

export function createTexts(readWindow: ReadWindow): Texts {
  const kept = new Map<number, string>();
  const wishes = new Set<Wish>();
  let characters = 0;
  let isWaiting = false;

  function keep(sequence: number, text: string): void {
    characters += text.length - (kept.get(sequence)?.length ?? 0);
    kept.delete(sequence);
    kept.set(sequence, text);
    for (const [oldest, { length }] of kept) {
      if (characters <= MAX_CHARACTERS || oldest === sequence) return;
      kept.delete(oldest);
      characters -= length;
    }
  }

  async function read(group: readonly Wish[]): Promise<void> {
    const [first] = group as [Wish];
    const events = await readWindow(first.sequence, endOf(group) - first.sequence).catch(() => []);
    for (const { sequence, span, whenThere } of group) {
      const own = events.filter((event) => event.sequence >= sequence && event.sequence < sequence + span);
      const { text, summary } = wholePayload(own);
      const whole = asText(text) ?? asText(summary);
      if (own.length === span && whole !== undefined) keep(sequence, whole);
      whenThere();
    }
  }

  function readWished(): void {
    isWaiting = false;
    const sorted = [...wishes].sort((a, b) => a.sequence - b.sequence);
    wishes.clear();
    for (const group of groupNear(sorted)) void read(group);
  }

  return {
    get: (sequence) => kept.get(sequence),
    want({ sequence, span }, whenThere) {
      const wish = { sequence, span, whenThere };
      wishes.add(wish);
      if (!isWaiting) setTimeout(readWished, WAIT_MS);
      isWaiting = true;
      return () => wishes.delete(wish);
    },
  };
}

const endOf = (group: readonly Wish[]): number => Math.max(...group.map(({ sequence, span }) => sequence + span));

function groupNear(sorted: readonly Wish[]): Wish[][] {
  const groups: Wish[][] = [];
  for (const wish of sorted) {
    const group = groups.at(-1);
    const isNear =
      group &&
      wish.sequence - endOf(group) <= NEAR &&
      wish.sequence + wish.span - (group[0]?.sequence ?? 0) <= MAX_IN_WINDOW;
    if (group && isNear) group.push(wish);
    else groups.push([wish]);
  }
  return groups;
}
