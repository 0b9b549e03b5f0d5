import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isObject } from '../agents/shared/part.ts';
import { copyDatabase } from './agents/corpus.ts';
import type { createRandom } from './random.ts';
import { replay } from './replay.ts';
import type { CorpusFile } from './worlds.ts';

type Random = ReturnType<typeof createRandom>;

/** Writes a file in steps, as its agent might have written it. */
export function stagesOf({ kind, from }: CorpusFile, to: string, steps: number, random: Random): (() => void)[] {
  mkdirSync(dirname(to), { recursive: true });
  if (kind === 'database') return replay(copyDatabase(from), to, steps);
  const bytes = readFileSync(from);
  if (kind === 'document') return saves(bytes.toString('utf8'), to, steps, random);
  const cuts = Array.from({ length: steps - 1 }, () => random.below(bytes.length + 1)).sort(
    (one, other) => one - other,
  );
  return [...cuts, bytes.length].map((cut, step) => {
    const slice = bytes.subarray(step === 0 ? 0 : cuts[step - 1], cut);
    return () => appendFileSync(to, slice);
  });
}

/** Rewrites a document with more of its messages in each step; some of the writes are torn. */
function saves(text: string, to: string, steps: number, random: Random): (() => void)[] {
  return Array.from({ length: steps }, (_, step) => () => {
    const isLast = step === steps - 1;
    const saved = isLast ? text : shorten(text, (step + 1) / steps);
    const isTorn = !isLast && text.startsWith('{') && random.below(5) === 0;
    writeFileSync(to, isTorn ? saved.slice(0, random.below(saved.length)) : saved);
  });
}

function shorten(text: string, share: number): string {
  const first = <Item>(items: readonly Item[]) => items.slice(0, Math.ceil(items.length * share));
  if (!/^\s*[[{]/.test(text)) return first(text.match(/[^\n]*\n|[^\n]+$/g) ?? []).join('');
  const document: unknown = JSON.parse(text);
  if (Array.isArray(document)) return JSON.stringify(unfinish(first(document)));
  if (!isObject(document)) return text;
  const name = ['messages', 'conversation'].find((name) => Array.isArray(document[name]));
  return name === undefined
    ? text
    : JSON.stringify({ ...document, [name]: unfinish(first(document[name] as unknown[])) });
}

/** Cuts the last message if it is of a kind that grows while the agent writes it. */
function unfinish(messages: unknown[]): unknown[] {
  const last = messages.at(-1);
  if (!isObject(last) || last.say !== 'text' || typeof last.text !== 'string') return messages;
  return [...messages.slice(0, -1), { ...last, text: last.text.slice(0, last.text.length / 2), partial: true }];
}
