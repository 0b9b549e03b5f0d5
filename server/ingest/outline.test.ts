import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { VOCABULARY } from '../../transcript/vocabulary.ts';
import { outlineOf } from './outline.ts';

const SECRET = 'hunter-4711';
/** The fields that show people who see facts alone what was said, in any form. */
const TEXTS = new Set(['text', 'input', 'description', 'prompt']);

const outline = (eventType: string, payload: object) =>
  JSON.parse(outlineOf(eventType, Buffer.from(JSON.stringify(payload))));

test('an outline passes a field only in its declared type', () => {
  expect(
    outline('tool.result', {
      source: { agent: 'codex', session: 's', position: { [SECRET]: 1 }, record: [SECRET] },
      occurredAt: { at: SECRET },
      callId: 'c1',
      isError: { text: SECRET },
      exitCode: SECRET,
      durationMs: 1.5,
      output: SECRET,
    }),
  ).toEqual({ source: { file: '', agent: 'codex', session: 's' }, callId: 'c1', durationMs: 1.5 });
  expect(outline('usage', { inputTokens: [SECRET], outputTokens: 7, cached: SECRET, model: { SECRET } })).toEqual({
    outputTokens: 7,
  });
});

test('no object or list hides a text in any field that is not a text of the session', () => {
  const hidden = fc.constantFrom<unknown>({ [SECRET]: 1 }, { text: SECRET }, [SECRET], [[{ a: SECRET }]]);
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(VOCABULARY)), hidden, (eventType, value) => {
      const { properties } = VOCABULARY[eventType as keyof typeof VOCABULARY];
      const names = Object.keys(properties).filter((name) => !TEXTS.has(name));
      const payload = Object.fromEntries(names.map((name) => [name, value]));
      expect(JSON.stringify(outline(eventType, payload))).not.toContain(SECRET);
    }),
    runs(200),
  );
});
