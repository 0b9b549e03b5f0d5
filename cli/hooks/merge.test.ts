import { expect, test } from 'vitest';
import { mergeHooks, unmergeHooks } from './merge.ts';

const isOurs = (command: string) => command.startsWith('ours');
const handler = (command: string) => ({ type: 'command', command });
const entries = [{ event: 'Stop', value: { hooks: [handler('ours')] } }];
const write = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

const LAYOUTS: [string, before: string, after: string][] = [
  ['an empty object', '{}', write({ hooks: { Stop: [{ hooks: [handler('ours')] }] } }).trimEnd()],
  ['an empty file', '', write({ hooks: { Stop: [{ hooks: [handler('ours')] }] } })],
  ['one line', '{"a":[1]}', '{"a":[1], "hooks": {"Stop":[{"hooks":[{"type":"command","command":"ours"}]}]}}'],
  [
    'tabs, comments, trailing commas and line ends of Windows',
    '{\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{}, // theirs\r\n\t\t],\r\n\t},\r\n}\r\n',
    '{\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{}, // theirs\r\n\t\t\t{\r\n\t\t\t\t"hooks": [\r\n' +
      '\t\t\t\t\t{\r\n\t\t\t\t\t\t"type": "command",\r\n\t\t\t\t\t\t"command": "ours"\r\n\t\t\t\t\t}\r\n\t\t\t\t]\r\n' +
      '\t\t\t}\r\n\t\t],\r\n\t},\r\n}\r\n',
  ],
  [
    'a comment behind the last member, which stays there',
    '{\n  "a": 1 // one\n}\n',
    `{\n  "a": 1, // one\n${write({ hooks: { Stop: [{ hooks: [handler('ours')] }] } }).slice(2)}`,
  ],
];

test.each(LAYOUTS)('lays ours out like %s', (_, before, after) => {
  expect(mergeHooks(before, { entries }, isOurs).text).toBe(after);
});

test('adds what the root must have, where it is absent', () => {
  const file = { root: { version: 1 }, entries };
  expect(JSON.parse(mergeHooks('{}', file, isOurs).text)).toMatchObject({ version: 1, hooks: {} });
  expect(JSON.parse(mergeHooks('{"version": 2}', file, isOurs).text)).toMatchObject({ version: 2, hooks: {} });
});

test('puts the entry of a new version in place of the old one, and drops events no longer asked for', () => {
  const before = write({
    hooks: { Stop: [{ hooks: [handler('ours --old')] }], Start: [{ hooks: [handler('ours')] }] },
  });
  const after = JSON.parse(mergeHooks(before, { entries }, isOurs).text) as unknown;
  expect(after).toEqual({ hooks: { Stop: [{ hooks: [handler('ours')] }], Start: [] } });
});

test("leaves another's handler that was put into our group", () => {
  const before = write({ hooks: { Stop: [{ hooks: [handler('theirs'), handler('ours')] }] } });
  const after = JSON.parse(unmergeHooks(before, [['hooks'], ['hooks', 'Stop']], isOurs)) as unknown;
  expect(after).toEqual({ hooks: { Stop: [{ hooks: [handler('theirs')] }] } });
});

test('leaves a member that was there before, though it is empty, and one that holds a comment', () => {
  const before = '{\n  "hooks": {\n    "Start": [],\n    "Stop": [\n      // soon\n    ]\n  }\n}\n';
  const { text, made } = mergeHooks(before, { entries }, isOurs);
  expect(unmergeHooks(text, [...made, ['hooks', 'Stop']], isOurs)).toBe(before);
});

test.each([
  ['{"a": 1', 'not valid JSON'],
  ['[]', 'not hold a JSON object'],
  ['{"hooks": []}', '"hooks" is no object'],
  ['{"hooks": {"Stop": {}}}', '"hooks.Stop" is no list'],
  ['// nothing', 'not valid JSON'],
])('refuses %s', (text, reason) => {
  expect(() => mergeHooks(text, { entries }, isOurs)).toThrow(reason);
});
