import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import type { HookEntry } from './agent-hooks.ts';
import { mergeHooks, unmergeHooks } from './merge.ts';

const COMMAND = '/home/u/.capture/bin/hook agent';
const isOurs = (command: string) => command === COMMAND;
const EVENTS = ['Start', 'Stop', 'End'];
const entries: HookEntry[] = EVENTS.map((event) => ({
  event,
  value: { hooks: [{ type: 'command', command: COMMAND, timeout: 5 }] },
}));

const parseJsonc = (text: string): unknown => parse(text, [], { allowTrailingComma: true });

const theirGroup = fc.record({
  matcher: fc.string(),
  hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() }), { maxLength: 3 }),
});
const theirHooks = fc.dictionary(fc.constantFrom(...EVENTS, 'Other'), fc.array(theirGroup, { maxLength: 3 }));
const settings = fc
  .tuple(
    fc.dictionary(
      fc.string().filter((name) => name !== 'hooks' && name !== '__proto__'),
      fc.jsonValue(),
      { maxKeys: 5 },
    ),
    fc.option(theirHooks, { nil: undefined }),
    fc.boolean(),
  )
  .map(([others, hooks, isFirst]) =>
    hooks === undefined ? others : isFirst ? { hooks, ...others } : { ...others, hooks },
  );

/** Stands for hooks that are written on one line. */
const MARK = 'the hooks';

/** A text of the settings, with comments and trailing commas strewn in, in one of many layouts. */
const text = fc
  .record({
    settings,
    unit: fc.constantFrom('', '  ', '    ', '\t'),
    lineEnd: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', '\n', '\n\n'),
    noise: fc.infiniteStream(fc.constantFrom('', '', '', ' // a "remark", with ] and }', ' /* one, [ */')),
    commas: fc.infiniteStream(fc.boolean()),
    isCompact: fc.boolean(),
  })
  .map(({ settings: value, unit, lineEnd, end, noise, commas, isCompact }) => {
    const take = <Value>(stream: Iterator<Value>): Value => stream.next().value as Value;
    const hooks = JSON.stringify((value as { hooks?: object }).hooks);
    const isMarked = isCompact && hooks !== undefined;
    const lines = JSON.stringify(isMarked ? { ...value, hooks: MARK } : value, undefined, unit).split('\n');
    const written = lines.map((line, index) => {
      const closes = /^\s*[}\]]/.test(lines[index + 1] ?? '') && !/[[{]$/.test(line);
      return line + (unit !== '' && closes && take(commas) ? ',' : '') + (unit === '' ? '' : take(noise));
    });
    return written.join(lineEnd).replace(`"${MARK}"`, () => hooks) + end;
  });

/** What the settings must be with ours: at the end of each event's list. */
function withOurs(value: unknown): unknown {
  const { hooks = {}, ...others } = value as { hooks?: Record<string, unknown[]> };
  const merged = { ...hooks };
  for (const { event, value: entry } of entries) merged[event] = [...(hooks[event] ?? []), entry];
  return { ...others, hooks: merged };
}

function isStrict(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

const RUNS = runs(150);

test('the settings with our hooks are the settings before, and ours', () => {
  fc.assert(
    fc.property(text, (before) => {
      const { text: after } = mergeHooks(before, { entries }, isOurs);
      expect(parseJsonc(after)).toEqual(withOurs(parseJsonc(before)));
      for (const comment of before.match(/\/\/ a "remark"|\/\* one/g) ?? []) expect(after).toContain(comment);
    }),
    RUNS,
  );
});

test('what stood in the settings still stands there, in its order', () => {
  fc.assert(
    fc.property(text, (before) => {
      const { text: after } = mergeHooks(before, { entries }, isOurs);
      let at = 0;
      for (const character of before) {
        at = after.indexOf(character, at) + 1;
        if (at === 0) throw new Error(`${JSON.stringify(character)} is gone`);
      }
    }),
    RUNS,
  );
});

test('settings in strict JSON stay strict JSON', () => {
  fc.assert(
    fc.property(text, (before) => {
      fc.pre(isStrict(before));
      const { text: after, made } = mergeHooks(before, { entries }, isOurs);
      expect(isStrict(after)).toBe(true);
      expect(isStrict(unmergeHooks(after, made, isOurs))).toBe(true);
    }),
    RUNS,
  );
});

test('to install twice changes nothing', () => {
  fc.assert(
    fc.property(text, (before) => {
      const once = mergeHooks(before, { entries }, isOurs).text;
      expect(mergeHooks(once, { entries }, isOurs)).toEqual({ text: once, made: [] });
    }),
    RUNS,
  );
});

test('to take ours out leaves the settings as they were', () => {
  fc.assert(
    fc.property(text, (before) => {
      const { text: after, made } = mergeHooks(before, { entries }, isOurs);
      expect(parseJsonc(unmergeHooks(after, made, isOurs))).toEqual(parseJsonc(before));
    }),
    RUNS,
  );
});

test('hooks that others add afterwards stay when ours are taken out', () => {
  const foreign: HookEntry[] = [...EVENTS, 'New'].map((event) => ({
    event,
    value: { hooks: [{ command: 'theirs' }] },
  }));
  fc.assert(
    fc.property(text, (before) => {
      const installed = mergeHooks(before, { entries }, isOurs);
      const edited = mergeHooks(installed.text, { entries: foreign }, () => false);
      const expected = mergeHooks(before, { entries: foreign }, () => false);
      expect(parseJsonc(unmergeHooks(edited.text, installed.made, isOurs))).toEqual(parseJsonc(expected.text));
    }),
    RUNS,
  );
});
