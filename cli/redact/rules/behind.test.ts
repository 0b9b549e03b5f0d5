import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLookBehind } from './behind.ts';

const REACH = 6;
const command = /(?:mail|ma)\b/;

/** The same by a look-behind, which reads the letters before each place anew. */
const asked = {
  line: new RegExp(String.raw`(?<=${command.source}[^|;\r\n]{0,${REACH}})`, 'y'),
  near: new RegExp(String.raw`(?<=${command.source}[^\0]{0,${REACH}})`, 'y'),
};

const texts = fc.string({ unit: fc.constantFrom('mail', 'ma', ' ', '-u', ';', '\n'), maxLength: 40 });

test.each(['line', 'near'] as const)('finds the command before any place, as a look-behind does: %s', (kind) => {
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const isBehind = createLookBehind({ command, reach: REACH, isLine: kind === 'line' });
      for (const text of [one, other, one]) {
        for (let place = 0; place <= text.length; place++) {
          asked[kind].lastIndex = place;
          expect(isBehind(text, place), `${JSON.stringify(text)} at ${place}`).toBe(asked[kind].test(text));
        }
      }
    }),
  );
});

test('a text is read once, however many places of it are asked for', () => {
  const text = 'mail -u | '.repeat(2000);
  const { exec } = RegExp.prototype;
  let tries = 0;
  RegExp.prototype.exec = function (of) {
    tries++;
    return exec.call(this, of);
  };
  try {
    const isBehind = createLookBehind({ command, reach: 200, isLine: true });
    for (let place = 0; place < text.length; place++) isBehind(text, place);
  } finally {
    RegExp.prototype.exec = exec;
  }
  expect(tries).toBeLessThan(2 * 2000 + 10);
});
