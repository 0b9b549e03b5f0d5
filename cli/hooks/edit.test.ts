import fc from 'fast-check';
import { parse, visit } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { runs, times } from '../../contract/test/runs.ts';
import type { AgentHooks } from '../agents/agent.ts';
import { addEntries, NotEditable, removeEntries } from './edit.ts';

const COMMAND = '/state/bin/hook cursor';
const isOurs = (command: string) => command.startsWith('/state/bin/hook ');
const HOOKS: AgentHooks = {
  path: () => '',
  root: { version: 1 },
  events: ['stop', 'sessionEnd'],
  entry: (command) => ({ command, timeout: 5 }),
};
const add = (text: string) => addEntries(text, HOOKS, COMMAND, isOurs);
const remove = (text: string) => removeEntries(text, isOurs);
const OURS = { command: COMMAND, timeout: 5 };

test('our entries come after other entries, and existing text stays unchanged', () => {
  const text = '{\n    // mine\n    "hooks": {\n        "stop": [{ "command": "theirs" }]\n    },\n    "a": 1.50\n}\n';
  const after = add(text);
  expect(parse(after)).toEqual({
    hooks: { stop: [{ command: 'theirs' }, OURS], sessionEnd: [OURS] },
    a: 1.5,
    version: 1,
  });
  expect(after).toContain('    // mine\n');
  expect(after).toContain('"a": 1.50');
  expect(add(after)).toBe(after);
});

test('an empty or missing file gets the needed entries, and no more', () => {
  const expected = { version: 1, hooks: { stop: [OURS], sessionEnd: [OURS] } };
  for (const text of ['', ' \n', '{}']) expect(parse(add(text))).toEqual(expected);
});

test('line ends and indentation stay as their owner likes them', () => {
  const after = add('{\r\n\t"a": 1\r\n}\r\n');
  expect(after.replaceAll('\r\n', '')).not.toContain('\n');
  expect(after).toContain('\r\n\t"hooks": {\r\n\t\t"stop"');
});

test('our entry from an earlier version is replaced', () => {
  const old = JSON.stringify({ hooks: { stop: [{ command: '/state/bin/hook cursor', timeout: 1 }], other: [OURS] } });
  expect(parse(add(old)).hooks).toEqual({ stop: [OURS], sessionEnd: [OURS] });
});

test.each<[string, string, RegExp]>([
  ['broken', '{"a": ', /not valid JSON/],
  ['a list', '[]', /does not contain a JSON object/],
  ['hooks that are no object', '{"hooks": []}', /"hooks" is not an object/],
  ['a list that is none', '{"hooks": {"stop": {}}}', /"hooks.stop" is not a list/],
  ['members twice', '{"hooks": {"stop": [1]}, "hooks": {}}', /cannot be edited without other changes/],
])('%s is left to its owner', (_, text, reason) => {
  expect(() => add(text)).toThrow(NotEditable);
  expect(() => add(text)).toThrow(reason);
});

/** Any JSON object, with comments between its tokens and commas at their ends. */
const document = fc
  .record({
    value: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4, noNullPrototype: true }),
    hooks: fc.option(fc.dictionary(fc.constantFrom('stop', 'other'), fc.array(fc.jsonValue({ maxDepth: 1 })))),
    indent: fc.constantFrom(undefined, 2, '\t'),
    comments: fc.array(fc.tuple(fc.nat(), fc.constantFrom('/* a */', '// b\n', '/*,*/', ',')), { maxLength: 3 }),
  })
  .map(({ value, hooks, indent, comments }) => {
    let text = JSON.stringify({ ...value, ...(hooks && { hooks }) }, undefined, indent);
    for (const [at, comment] of comments) {
      const ends: number[] = [];
      visit(text, {
        onObjectEnd: (offset) => void ends.push(offset),
        onObjectBegin: (offset) => void ends.push(offset + 1),
        onArrayEnd: (offset) => void ends.push(offset),
        onSeparator: (_, offset) => void ends.push(offset + 1),
      });
      const place = ends[at % ends.length] ?? 0;
      text = text.slice(0, place) + comment + text.slice(place);
    }
    return text;
  });

const commentsOf = (text: string) => {
  const all: string[] = [];
  visit(text, { onComment: (offset, length) => void all.push(text.slice(offset, offset + length)) });
  return all;
};

test('any file is unchanged after our entries were added and removed, or it was left alone', () => {
  let edited = 0;
  fc.assert(
    fc.property(document, (text) => {
      let after: string;
      try {
        after = add(text);
      } catch (error) {
        expect(error).toBeInstanceOf(NotEditable);
        return;
      }
      edited++;
      const [before, with_] = [parse(text), parse(after)];
      for (const [name, value] of Object.entries(before)) if (name !== 'hooks') expect(with_[name]).toEqual(value);
      expect(commentsOf(after)).toEqual(commentsOf(text));
      expect(remove(after)).not.toBe(after);
      const without = parse(remove(after));
      for (const [event, list] of Object.entries(before.hooks ?? {})) {
        if (!HOOKS.events.includes(event) || (list as []).length > 0) expect(without.hooks[event]).toEqual(list);
      }
      expect(remove(remove(after))).toBe(remove(after));
    }),
    runs(200),
  );
  expect(edited).toBeGreaterThan(times(200) / 8);
});
