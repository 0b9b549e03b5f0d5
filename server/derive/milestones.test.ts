import { describe, expect, test } from 'vitest';
import { type Event, entriesOf, factsOf, priceOf } from '../test/folded.ts';
import { fold } from './fold.ts';

const call = (callId: string, command: string): Event => ['tool.call', { callId, name: 'Bash', input: { command } }, 1];
const result = (callId: string, output: string, more: object = {}): Event => [
  'tool.result',
  { callId, output, ...more },
  2,
];

describe('milestones', () => {
  test('include commits that a command made, with hash and subject', () => {
    const facts = factsOf(call('a', 'git commit -m x'), result('a', '[main 1a2b3c4] Add a lock'));
    const time = '2026-11-20T00:02:00.000Z';
    expect(facts.milestones).toEqual([{ sequence: 2, time, kind: 'commit', text: 'Add a lock', hash: '1a2b3c4' }]);
    expect(factsOf(call('a', 'cat log'), result('a', '[main 1a2b3c4] Add a lock')).milestones).toEqual([]);
  });

  test('count a commit once, however often and in whichever length its hash is reported', () => {
    const [made, full] = ['[main 1a2b3c4] Add a lock', `[main 1a2b3c4${'0'.repeat(33)}] Add a lock`];
    const twice = [call('a', 'git commit -m x'), result('a', made), result('a', made)];
    const again = [call('b', 'git commit -m y'), result('b', `${full}\n[main 5d6e7f8] Test the lock`)];
    const { milestones, commits } = factsOf(...twice, ...again);
    expect(milestones.map(({ text, sequence }) => [text, sequence])).toEqual([
      ['Add a lock', 2],
      ['Test the lock', 5],
    ]);
    expect(commits).toEqual({ count: 2, sequence: 5 });
  });

  test('include commits of quiet commands that succeeded', () => {
    const quiet = call('a', `git commit -qm 'Add a lock'`);
    expect(factsOf(quiet, result('a', '')).milestones).toMatchObject([{ kind: 'commit', text: 'Add a lock' }]);
    expect(factsOf(quiet, result('a', 'no', { exitCode: 1 })).milestones).toEqual([]);
  });

  test('include pull requests, by title or address', () => {
    const url = 'https://git.example/o/r/pull/7';
    const titled = factsOf(call('a', 'gh pr create --title "Add a lock" --body x'), result('a', url));
    expect(titled.milestones).toMatchObject([{ kind: 'pull_request', text: 'Add a lock', url }]);
    expect(factsOf(call('a', 'gh pr create --fill'), result('a', url)).milestones).toMatchObject([{ text: url }]);
  });

  test('include tests that turned red or green, and no other test runs', () => {
    const red = result('a', ' Tests  1 failed', { exitCode: 0 });
    const events = [call('a', 'npm test | tail'), red, red, result('a', ' Tests  3 passed'), result('a', 'ok')];
    const { milestones } = factsOf(...events);
    expect(milestones.map(({ kind, passed, sequence }) => [kind, passed, sequence])).toEqual([
      ['tests', false, 2],
      ['tests', true, 4],
    ]);
  });

  test.each(['npm install -D vitest', 'npm test || true'])('do not count the end of %s as tests', (command) => {
    expect(factsOf(call('a', command), result('a', 'done', { exitCode: 0 })).milestones).toEqual([]);
    const told = factsOf(call('a', command), result('a', ' Tests  1 failed', { exitCode: 0 }));
    expect(told.milestones).toMatchObject([{ passed: false }]);
  });

  test('count all commits, and know the last result of the tests, although only the first 500 are listed', () => {
    const work = Array.from({ length: 300 }, (_, n) => [
      call(`c${n}`, 'git commit -m x'),
      result(`c${n}`, `[main ${1_000_000 + n}] Step ${n}`),
      call(`t${n}`, 'npm test'),
      result(`t${n}`, '', { exitCode: n % 2 }),
    ]);
    const { milestones, commits, tests } = factsOf(...work.flat());
    expect(milestones).toHaveLength(500);
    expect(commits).toEqual({ count: 300, sequence: 1_198 });
    expect(tests).toEqual({ passed: false, sequence: 1_200, wereRed: true });
  });

  test('include tests that only their summary shows, whatever the command', () => {
    const facts = factsOf(call('a', './ci.sh api'), result('a', ' Tests  230 passed (230)'));
    expect(facts.milestones).toMatchObject([{ kind: 'tests', text: './ci.sh api', passed: true }]);
    const red = factsOf(call('a', 'npm test'), result('a', 'x', { exitCode: 1 }), call('b', 'acme verify'));
    fold(red, entriesOf([result('b', 'Tests: 1 passed, 1 total')]), priceOf);
    expect(red.tests?.passed).toBe(true);
  });

  const codex = (callId: string, end: string, output: string) =>
    result(callId, `Chunk ID: 1a\nWall time: 1.0 seconds\nProcess ${end}\nOutput:\n${output}`);
  const poll = (callId: string, id: number): Event => [
    'tool.call',
    { callId, name: 'write_stdin', input: { session_id: id } },
  ];

  test('include tests of a command that ended in a later call', () => {
    const started = [
      call('a', 'go test ./...'),
      codex('a', 'running with session ID 7', 'ok  \texample.test/a\t0.01s'),
    ];
    expect(factsOf(...started).milestones).toEqual([]);
    const failed = factsOf(
      ...started,
      poll('b', 7),
      codex('b', 'running with session ID 7', ''),
      poll('c', 7),
      codex('c', 'exited with code 1', 'panic'),
    );
    expect(failed.milestones).toMatchObject([{ kind: 'tests', text: 'go test ./...', passed: false, sequence: 6 }]);
    expect([...failed.commands]).toEqual([['go test ./...', [1, 1, 1, 6]]]);
    const passed = factsOf(...started, poll('b', 7), codex('b', 'exited with code 0', 'ok  \texample.test/b\t2s'));
    expect(passed.milestones).toMatchObject([{ passed: true, sequence: 4 }]);
    expect(factsOf(...started, poll('b', 8), codex('b', 'exited with code 1', '--- FAIL: TestA')).milestones).toEqual(
      [],
    );
  });

  test('include a quiet commit of such a command once', () => {
    const events = [
      call('a', 'git commit -qm "Add a lock"'),
      codex('a', 'running with session ID 7', ''),
      poll('b', 7),
      codex('b', 'exited with code 0', ''),
      poll('c', 7),
      codex('c', 'exited with code 0', ''),
    ];
    expect(factsOf(...events).milestones).toMatchObject([{ kind: 'commit', text: 'Add a lock', sequence: 4 }]);
  });

  test('do not include a summary in a text that the agent reads', () => {
    const read = result('a', ' Tests  1 failed | 5 passed (6)');
    for (const command of ['cat out.log', 'rg failed logs', 'git show HEAD:out.log', 'tail -5 ci.log | grep -v x']) {
      expect(factsOf(call('a', command), read).milestones).toEqual([]);
    }
    const tool: Event = ['tool.call', { callId: 'a', name: 'Read', input: { file_path: '/out.log' } }, 1];
    expect(factsOf(tool, read).milestones).toEqual([]);
  });

  test('count tests in a longer command as passed if it succeeds, and as nothing if it fails', () => {
    const run = call('a', 'npm test && git push');
    expect(factsOf(run, result('a', 'x', { exitCode: 0 })).milestones).toMatchObject([{ kind: 'tests', passed: true }]);
    expect(factsOf(run, result('a', 'x', { exitCode: 1 }), result('a', 'x')).milestones).toEqual([]);
  });

  test('count a test run once if the agent reports it twice', () => {
    const run = call('a', 'make test');
    const told = factsOf(run, result('a', 'x', { exitCode: 2 }), result('a', 'x'));
    expect(told.milestones).toMatchObject([{ kind: 'tests', passed: false }]);
    expect(factsOf(run, result('a', 'x'), run, result('a', 'x', { isError: true })).milestones).toMatchObject([
      { passed: true },
      { passed: false },
    ]);
  });

  test('include compactions, and waits of more than five minutes for the person', () => {
    const facts = factsOf(
      ['assistant.message', { text: 'Done.' }, 0],
      ['user.message', { text: 'Thanks' }, 4],
      ['assistant.message', { text: 'Done.' }, 5],
      ['compaction', { trigger: 'auto' }, 6],
      ['user.message', { text: 'Good morning' }, 65],
    );
    expect(facts.milestones).toMatchObject([
      { kind: 'compaction', text: 'auto' },
      { kind: 'wait', sequence: 5, durationMs: 3_600_000 },
    ]);
  });
});
