import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPreferences } from './preferences.ts';

const read = (text?: string) => {
  const home = mkdtempSync(join(tmpdir(), 'preferences-'));
  if (text !== undefined) writeFileSync(join(home, 'preferences.json'), text);
  return readPreferences({ variables: { CAPTURE_HOME: home }, home });
};

test('without a file, all preferences are absent', () => {
  expect(read()).toEqual({});
});

test('all settings are read', () => {
  const all = {
    include: ['~/work'],
    exclude: [],
    redaction: { allow: ['jwt'] },
    spool: { maxMegabytes: 1 },
  };
  expect(read(JSON.stringify(all))).toEqual(all);
});

test.each([
  ['{"exclude":"~/private"}', '"exclude" must be a list of texts'],
  ['{"exlude":[]}', '"exlude" is not a setting'],
  ['{"spool":{"maxMegabytes":0}}', '"spool" "maxMegabytes" must be a number above 0'],
  ['{"constructor":1}', '"constructor" is not a setting'],
  ['[]', 'must be an object'],
])('the invalid preferences %s end the command', (text, problem) => {
  expect(() => read(text)).toThrow(problem);
});
