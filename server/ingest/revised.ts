import { hash } from 'node:crypto';
import { compareWriting, writingOf } from '../../contract/revision.ts';

/** What is added up over events. */
export interface Figures {
  prompts: number;
  toolCalls: number;
  failures: number;
  redactions: number;
  inputTokens: number;
  outputTokens: number;
}

/**
 * What the records that may be written again have added to the figures, by a short hash of the record: revision, index of
 * the event counted last, and the six figures.
 */
type Records = Record<string, [revision: number, index: number, ...number[]]>;

/**
 * Each takes about 50 bytes of the summary. A record that was written before these and is written again counts twice.
 * Some are forgotten at once: to find the oldest takes as long as looking at all.
 */
const MOST_REVISED = 1_000;
const FORGOTTEN_AT_ONCE = 200;

const FIGURES = ['prompts', 'toolCalls', 'failures', 'redactions', 'inputTokens', 'outputTokens'] as const;

export interface Counted extends Figures {
  revised?: { records: Records; count: number };
}

/**
 * Counts an event so that of its record only the writing that counts does.
 * @param count adds the event to the figures; not called for an event that is history already
 */
export function countWriting(summary: Counted, source: unknown, count: () => void): void {
  const writing = writingOf(source);
  if (!writing) {
    count();
    return;
  }
  summary.revised ??= { records: {}, count: 0 };
  const { records } = summary.revised;
  const key = `.${hash('sha256', writing.key, 'base64url').slice(0, 12)}`;
  const known = records[key];
  const step = compareWriting(writing, known && { revision: known[0], index: known[1] });
  if (step === 'history') return;
  const earlier = known?.slice(2) ?? FIGURES.map(() => 0);
  if (step === 'replaces') for (const [at, figure] of FIGURES.entries()) summary[figure] -= earlier[at] ?? 0;
  const before = FIGURES.map((figure) => summary[figure]);
  count();
  const added = FIGURES.map((figure, at) => summary[figure] - (before[at] ?? 0));
  const kept = step === 'continues' ? added.map((by, at) => by + (earlier[at] ?? 0)) : added;
  // Put behind the others, so that what was not written for longest is forgotten first.
  delete records[key];
  records[key] = [writing.revision, writing.index, ...kept];
  if (known === undefined && ++summary.revised.count > MOST_REVISED) forget(summary.revised);
}

function forget(revised: NonNullable<Counted['revised']>): void {
  for (const key of Object.keys(revised.records).slice(0, FORGOTTEN_AT_ONCE)) delete revised.records[key];
  revised.count -= FORGOTTEN_AT_ONCE;
}
