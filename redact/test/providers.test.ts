import { describe, expect, test } from 'vitest';
import { redactOne } from '../../cli/test/redacting.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { createRedactor } from '../redactor.ts';
import type { Example, Examples } from './example.ts';
import { FIRST_BATCH } from './first-batch.ts';
import { FIRST_SERVICES } from './first-services.ts';
import { SECOND_BATCH } from './second-batch.ts';
import { SECOND_SERVICES } from './second-services.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };

/** The longest part of the secret that is left. A mask that leaves out some of it is not a mask. */
function survives([secret, text]: Example): boolean {
  const output = text.replace('§', () => secret);
  const event: CapturedEvent = { eventType: 'tool.result', payload: { source, output } };
  const after = JSON.stringify(redactOne(redactor, event).payload);
  return pieces(JSON.stringify(secret).slice(1, -1)).some((piece) => after.includes(piece));
}

/** Each run of twelve letters. */
const pieces = (secret: string) =>
  Array.from({ length: Math.max(1, secret.length - 11) }, (_, start) => secret.slice(start, start + 12));

const BATCHES: { [name: string]: Examples } = {
  first: { ...FIRST_BATCH, ...FIRST_SERVICES },
  second: { ...SECOND_BATCH, ...SECOND_SERVICES },
};

describe.each(Object.entries(BATCHES))('the %s batch', (_name, batch) => {
  const groups = Object.entries(batch);
  const all = groups.flatMap(([, examples]) => examples);

  test('has at least five examples for each of forty providers', () => {
    expect(groups.length).toBeGreaterThanOrEqual(40);
    expect(groups.filter(([, examples]) => examples.length < 5)).toEqual([]);
    expect(all.filter(([, text]) => text.split('§').length !== 2)).toEqual([]);
  });

  test('95 of 100 examples are masked', () => {
    const left = groups.flatMap(([provider, examples]) =>
      examples
        .filter(survives)
        .map(([secret, text]) => `${provider}: ${text} [${secret.slice(0, 12)}…${secret.length}]`),
    );
    const recall = 1 - left.length / all.length;
    if (process.env.SHOW_RECALL) console.log(`${all.length - left.length} of ${all.length}\n${left.join('\n')}`);
    expect(recall, left.join('\n')).toBeGreaterThanOrEqual(0.95);
  });
});
