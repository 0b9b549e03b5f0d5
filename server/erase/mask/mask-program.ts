import { parentPort } from 'node:worker_threads';
import { countMarks } from '../../../redact/mark.ts';
import { Damaged } from '../../log/damaged.ts';
import type { StoredAppend } from '../../store/events.ts';
import { EventMasker } from './event-masker.ts';
import { findByRules } from './find-by-rules.ts';
import { type Finder, findText, type Replacement } from './finder.ts';
import type { MaskedAppend } from './masked-events.ts';

/** What must be masked: a text, or the findings of the current rules. */
export type Wanted =
  | { kind: 'text'; text: string; mark: string }
  /** `key`: the key for the digests in marks. */
  | { kind: 'rules'; key: Uint8Array; sessionId: string };

/** A request to a masker. The first request is `begin`, the last one is `drop`. */
export type Request = { masker: number } & (
  | { kind: 'begin'; wanted: Wanted }
  | { kind: 'add'; appends: StoredAppend[] }
  | { kind: 'end' }
  | { kind: 'texts'; texts: string[] }
  | { kind: 'drop' }
);

export interface Reply {
  /** The appends that changed; an append is returned once all of its payloads are complete. */
  masked: MaskedAppend[];
  /** Whether no append waits for later ones. */
  isSettled: boolean;
  /** The found pieces of each text. */
  places: Replacement[][];
  /** False: the text may be in parts of a payload that are too many and too short to be searched together. */
  isComplete: boolean;
  /** The figures so far that contain the text and are left as they are. */
  left: string[];
  /** How many places each rule has found so far. */
  rules: Record<string, number>;
  error?: string;
  /** Whether the error is damage of the events. */
  isDamage?: boolean;
}

interface Masker {
  finder: Finder;
  events: EventMasker;
  left: Set<string>;
  rules: Record<string, number>;
}

const maskers = new Map<number, Masker>();

const finderOf = (wanted: Wanted, { left, rules }: Pick<Masker, 'left' | 'rules'>): Finder =>
  wanted.kind === 'rules'
    ? findByRules(wanted.key, wanted.sessionId, (mark) => countMarks(mark, rules))
    : findText(wanted.text, wanted.mark, (field) => left.add(field));

function answer(request: Request): Reply {
  const reply: Reply = { masked: [], isSettled: true, places: [], isComplete: true, left: [], rules: {} };
  if (request.kind === 'begin') {
    const told = { left: new Set<string>(), rules: {} };
    const finder = finderOf(request.wanted, told);
    maskers.set(request.masker, { finder, events: new EventMasker(finder), ...told });
    return reply;
  }
  if (request.kind === 'drop') {
    maskers.delete(request.masker);
    return reply;
  }
  const masker = maskers.get(request.masker);
  if (!masker) throw new Error('the thread was restarted meanwhile');
  const { finder, events, left, rules } = masker;
  if (request.kind === 'add') reply.masked = request.appends.flatMap((append) => events.add(append));
  if (request.kind === 'end') {
    reply.masked = events.end();
    reply.left = [...left].sort();
    reply.isComplete = events.isComplete;
  }
  if (request.kind === 'texts') reply.places = request.texts.map((text) => finder.inText(text));
  reply.isSettled = events.isSettled;
  reply.rules = rules;
  return reply;
}

/** Decompresses, parses and masks outside of the main thread. */
parentPort?.on('message', (request: Request) => {
  try {
    parentPort?.postMessage(answer(request));
  } catch (error) {
    // The message of a parser quotes the text that it read.
    const message = error instanceof SyntaxError ? 'a payload is not JSON' : (error as Error).message;
    const isDamage = error instanceof Damaged;
    parentPort?.postMessage({
      masked: [],
      isSettled: false,
      places: [],
      isComplete: false,
      left: [],
      rules: {},
      error: message,
      isDamage,
    } satisfies Reply);
  }
});
