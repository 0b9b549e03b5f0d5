import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { changesOfCall } from './changes.ts';
import { readEvent } from './read.ts';
import { callsOf } from './script.ts';

const commandsOf = (script: string) =>
  callsOf('exec', script).map(({ name, input }) => [name, (input as { cmd?: unknown }).cmd]);
const run = (cmd: unknown) => ['exec_command', cmd];
const entryOf = (input: string) =>
  readEvent({
    sequence: 1,
    eventType: 'tool.call',
    createdAt: '2026-11-20T10:00:00.000Z',
    payload: { callId: 'a', name: 'exec', input } as never,
  });

describe('the commands of a script', () => {
  test.each([
    [
      'const r = await tools.exec_command({\n  cmd: "go test ./a",\n  workdir: "/src",\n});\ntext(r.output);',
      ['go test ./a'],
    ],
    [`await tools.exec_command({cmd:'git commit -m "a \\'b\\'"'})`, [`git commit -m "a 'b'"`]],
    ['await tools.exec_command({ "cmd": `cat <<EOF\nx\nEOF` })', ['cat <<EOF\nx\nEOF']],
    ['await tools["exec_command"]({ cmd: "ls" })', ['ls']],
    [
      '// tools.exec_command({ cmd: "no" })\n/* tools.exec_command({cmd:"no"}) */ tools.exec_command({cmd:"yes"})',
      ['yes'],
    ],
    ['text("tools.exec_command({cmd: 1})"); await tools.exec_command({ cmd: "a" + " b" })', ['a b']],
    ['const cmd = "ls -l"; await tools.exec_command({ cmd, workdir })', ['ls -l']],
    ['const cmd = ["a", "b"].join(" && ");\nawait tools.exec_command({ cmd })', ['a && b']],
    ['const [a, b] = await Promise.all([tools.exec_command({cmd:"a"}), tools.exec_command({cmd:"b"})]);', ['a', 'b']],
    ['await Promise.all(["a", "b"].map((cmd) => tools.exec_command({ cmd })));', ['a', 'b']],
    ['const all = ["a", "b"]; for (const c of all) { await tools.exec_command({ cmd: c }); }', ['a', 'b']],
    ['for (const [name, cmd] of [["x", "a"], ["y", "b"]]) text(await tools.exec_command({ cmd }))', ['a', 'b']],
    ['const m = /["\'`]tools/.exec(x); await tools.exec_command({ cmd: "a" })', ['a']],
    ['await tools.exec_command({ ...base, cmd: "a", env: { A: f(1, 2) } })', ['a']],
    [`text(\`\${(await tools.exec_command({ cmd: "a" })).output}\`); tools.exec_command({ cmd: "b" })`, ['b']],
  ])('%s', (script, commands) => {
    expect(commandsOf(script)).toEqual(commands.map(run));
  });

  test.each([
    `const r = await tools.exec_command({ cmd: \`gh pr checks \${n}\` });`,
    'await tools.exec_command({ cmd: build(1) });',
    'await tools.exec_command({ cmd: "a" + name });',
    'const cmd = pick ? "a" : "b"; await tools.exec_command({ cmd });',
    'let cmd = "a"; cmd += "b"; await tools.exec_command({ cmd });',
    'await other.tools.exec_command({ cmd: "a" });',
    'text(ALL_TOOLS.filter((tool) => /git/.test(tool.name)));',
    'await tools.exec_command({ cmd: "a',
  ])('are shown as the script if they are not literals: %s', (script) => {
    expect(callsOf('exec', script)).toEqual([{ name: 'exec', input: script }]);
  });

  test('are any text that a literal can express', () => {
    const quoted = fc.string({ unit: 'binary' }).map((text): [string, string] => [text, JSON.stringify(text)]);
    const template = fc
      .string({ unit: 'binary' })
      .map((text): [string, string] => [text, `\`${text.replace(/[\\`$]/g, '\\$&').replaceAll('\r', '\\r')}\``]);
    fc.assert(
      fc.property(fc.oneof(quoted, template), fc.boolean(), ([text, literal], isNamed) => {
        const script = isNamed
          ? `const c = ${literal};\nawait tools.exec_command({ cmd: c })`
          : `text((await tools.exec_command({ yield_time_ms: 1_000, cmd: ${literal} })).output)`;
        expect(commandsOf(script)).toEqual([run(text)]);
      }),
      runs(300),
    );
  });

  test('do not fill the memory, if constants double each other', () => {
    const doubled = Array.from({ length: 60 }, (_, n) => `const c${n + 1} = c${n} + c${n};`).join('\n');
    const [call] = callsOf('exec', `const c0 = "go test";\n${doubled}\nawait tools.exec_command({ cmd: c60 })`);
    expect(call?.name).toBe('exec');
  });

  test('are read from any text without an error', () => {
    const pieces = [
      'tools',
      '.',
      'exec_command',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      'cmd',
      ':',
      '"',
      "'",
      '`',
      '${',
      '\\',
      '/',
      '+',
    ];
    const words = fc.constantFrom(
      ...pieces,
      ',',
      'const',
      '=',
      'of',
      'map',
      'join',
      '\n',
      '1',
      '//',
      '=>',
      '\\u{110000}',
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 60 }), (texts) => {
        expect(callsOf('exec', texts.join('')).length).toBeGreaterThan(0);
      }),
      runs(500),
    );
    for (const piece of ['tools.a(', 'tools.a({a:', '[', '`${', '"a"+', 'const a=[', '\\']) {
      expect(callsOf('exec', piece.repeat(3_000)).length).toBeGreaterThan(0);
    }
  });
});

describe('a row of a script', () => {
  test('shows its commands, with their purposes', () => {
    expect(entryOf('const r = await tools.exec_command({ cmd: "go test ./a" });\ntext(r.output);')).toMatchObject({
      about: 'go test ./a',
      command: 'go test ./a',
      purposes: ['tests', 'exit_of_tests'],
    });
    const both = `await Promise.all([tools.exec_command({cmd:"npm test"}), tools.exec_command({cmd:"git commit -m 'Add a'"})])`;
    expect(entryOf(both)).toMatchObject({
      about: `npm test; git commit -m 'Add a'`,
      command: `npm test; git commit -m 'Add a'`,
      purposes: ['tests', 'commit'],
      subjects: ['Add a'],
    });
  });

  test('shows the names of other tools, and uses their server', () => {
    const script = 'await tools.mcp__github__get_pr({ query: "lock" })';
    expect(entryOf(script)).toMatchObject({
      about: 'mcp__github__get_pr lock',
      addOn: { kind: 'mcp', name: 'github' },
    });
  });

  test('has the changes of its patches', () => {
    const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n+"c" `d`\n*** End Patch';
    const scripts = [
      `const patch = ${JSON.stringify(patch)};\ntext(await tools.apply_patch(patch));`,
      `await tools.apply_patch(${JSON.stringify(patch.split('\n'))}.join("\\n"));`,
      `await tools.apply_patch(String.raw\`${patch.replaceAll('`d`', 'd')}\`);`,
      `await tools.exec_command({ cmd: ${JSON.stringify(`apply_patch <<'EOF'\n${patch}\nEOF`)} });`,
    ];
    for (const script of scripts) {
      expect(changesOfCall('exec', script)).toMatchObject([{ path: 'src/a.ts', kind: 'update' }]);
      expect(entryOf(script)).toMatchObject({ changes: [{ path: 'src/a.ts', added: 2, removed: 1 }] });
    }
  });
});
