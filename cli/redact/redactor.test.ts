import { expect, test } from 'vitest';
import type { CapturedEvent } from '../../contract/transcript.ts';
import { createRedactor } from './redactor.ts';

const secret = 'Sommer/regen+2024!';
const redactor = createRedactor({ variables: { DB_PASSWORD: secret }, home: '/nowhere', key: new Uint8Array(32) });

const source = { agent: 'codex', session: 's-1', file: '2026/a.jsonl', position: 12 };

function call(input: unknown): CapturedEvent {
  return { eventType: 'tool.call', payload: { source, name: 'shell', input } };
}

test('masks a known value and says how often', () => {
  const event = redactor.redact(call({ command: `mysql -p${secret}`, [secret]: 1 }));
  expect(JSON.stringify(event)).not.toContain(secret);
  expect(event.payload.redactions).toEqual({ 'known-value': 2 });
  expect(event.payload.source).toEqual(source);
});

test('gives the event itself back when nothing was masked', () => {
  const event = call({ command: 'ls -la' });
  expect(redactor.redact(event)).toBe(event);
});
