import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressOf } from '../../contract/repository.ts';
import { runs } from '../../contract/test/runs.ts';
import { type Event, factsOf, tokensByModel } from '../test/folded.ts';
import { readFacts, writeFacts } from './facts.ts';
import { accountOf } from './fold-meta.ts';
import { shapeOf } from './shape.ts';

const call = (callId: string, command: string): Event => ['tool.call', { callId, name: 'Bash', input: { command } }, 1];
const result = (callId: string, output: string, more: object = {}): Event => [
  'tool.result',
  { callId, output, ...more },
  2,
];

describe('turns', () => {
  const prompt = (text: string): Event => ['user.message', { text }];
  const ofSubagent: Event = ['tool.call', { callId: 's', name: 'Read', input: {}, source: { subagent: 'a1' } }];

  test('have the line of their prompt, and their calls and failures, without those of sub-agents', () => {
    const failed = result('a', 'no', { isError: true });
    const { turns } = factsOf(
      call('0', 'ls'),
      prompt('# Fix it\nNow.'),
      call('a', 'x'),
      failed,
      ofSubagent,
      prompt(''),
    );
    expect(turns).toEqual([
      { sequence: 2, prompt: 'Fix it', calls: 1, failures: 1 },
      { sequence: 6, prompt: '', calls: 0, failures: 0 },
    ]);
  });

  test('are kept up to a number, and the last one does not get the calls of later ones', () => {
    const { prompts, turns } = factsOf(...Array.from({ length: 201 }, () => prompt('Go on.')), call('a', 'ls'));
    expect([prompts, turns.length, turns.at(-1)]).toEqual([
      201,
      200,
      expect.objectContaining({ sequence: 200, calls: 0 }),
    ]);
  });

  test('of long prompts leave room for the figures of all days', () => {
    const SIX_HOURS = 360;
    const long = Array.from(
      { length: 240 },
      (_, n): Event => ['user.message', { text: '漢'.repeat(200) }, n * SIX_HOURS],
    );
    const calls = long.map(
      ([, , at = 0], n): Event => ['tool.call', { callId: `${n}`, name: 'Read', input: {} }, at + 1],
    );
    const { days, turns } = factsOf(...long.flatMap((one, n) => [one, calls[n] as Event]));
    const sum = (figure: 'prompts' | 'calls') => days.values().reduce((total, day) => total + day[figure], 0);
    expect([sum('prompts'), sum('calls')]).toEqual([240, 240]);
    expect(turns.length).toBeLessThan(70);
  });
});

describe('compactions', () => {
  test('that overlapping files of a session repeat count once', () => {
    const compaction: Event = ['compaction', { trigger: 'auto' }, 5];
    const facts = factsOf(compaction, ['user.message', { text: 'on' }, 6], compaction, [
      'compaction',
      { trigger: 'auto' },
      9,
    ]);
    expect(facts.milestones.filter(({ kind }) => kind === 'compaction').map(({ sequence }) => sequence)).toEqual([
      1, 4,
    ]);
  });
});

describe('files', () => {
  const edit = (callId: string): Event => [
    'tool.call',
    { callId, name: 'Edit', input: { file_path: '/a.ts', old_string: 'a', new_string: 'b\nc' } },
  ];
  test('count the changes of a result, otherwise the intended changes of its call unless it failed', () => {
    const patch = { filePath: '/b.ts', structuredPatch: [{ lines: ['+x'] }] };
    const facts = factsOf(
      edit('1'),
      result('1', 'ok'),
      edit('2'),
      result('2', 'no', { isError: true }),
      edit('3'),
      result('3', 'ok', { detail: patch }),
    );
    expect([...facts.files]).toEqual([
      ['/a.ts', [1, 2, 1, 2]],
      ['/b.ts', [1, 1, 0, 6]],
    ]);
    expect([facts.linesAdded, facts.linesRemoved]).toEqual([3, 1]);
  });
});

describe('edits that a call and its results report', () => {
  const PATCH = '*** Begin Patch\n*** Update File: /a.go\n@@\n-old\n+new\n+more\n*** End Patch';
  const script = (callId: string): Event => [
    'tool.call',
    { callId, name: 'exec', input: `const patch = ${JSON.stringify(PATCH)};\nawait tools.apply_patch(patch);` },
  ];
  const applied = (callId: string, path = '/a.go', more: object = {}): Event =>
    result(callId, '', {
      detail: { changes: { [path]: { type: 'update', unified_diff: '@@ -1 +1,2 @@\n-old\n+new\n+more' } }, ...more },
    });
  const completed = (callId: string): Event => result(callId, 'Script completed\nWall time 0.4 seconds\nOutput:\n\n{}');

  test('count once if a script applies a patch that is reported under its own id', () => {
    const facts = factsOf(script('s'), applied('exec-1'), completed('s'));
    expect([...facts.files]).toEqual([['/a.go', [1, 2, 1, 2]]]);
    expect([facts.linesAdded, facts.linesRemoved]).toEqual([2, 1]);
  });

  test('count each patch that one script applies', () => {
    const facts = factsOf(script('s'), applied('exec-1'), applied('exec-2', '/b.go'), completed('s'));
    expect([...facts.files.keys()]).toEqual(['/a.go', '/b.go']);
    expect([facts.linesAdded, facts.linesRemoved]).toEqual([4, 2]);
  });

  test('count nothing if the script or the patch was refused, and count as failures', () => {
    const facts = factsOf(
      script('s'),
      result('s', 'Script failed\nWall time 0.0 seconds\nOutput:\n\nScript error:\napply_patch verification failed'),
      ['tool.call', { callId: 'p', name: 'apply_patch', input: PATCH }],
      result('p', 'apply_patch verification failed: Failed to find expected lines in /a.go'),
      script('t'),
      applied('exec-3', '/a.go', { success: false }),
    );
    expect([facts.linesAdded, facts.linesRemoved, facts.files.size, facts.failures]).toEqual([0, 0, 0, 3]);
  });

  test('count once if the result that reports them follows another result', () => {
    const facts = factsOf(
      ['tool.call', { callId: 'p', name: 'apply_patch', input: PATCH }],
      result('p', 'Done!'),
      applied('p'),
    );
    expect([...facts.files]).toEqual([['/a.go', [1, 2, 1, 3]]]);
    expect([facts.linesAdded, facts.linesRemoved]).toEqual([2, 1]);
  });

  test('count for the sub-agent with the open call, not for another one', () => {
    const ofSubagent = ([type, payload]: Event): Event => [type, { ...payload, source: { subagent: 'child' } }];
    const facts = factsOf(
      script('s'),
      ofSubagent(script('c')),
      applied('exec-1'),
      completed('s'),
      ofSubagent(completed('c')),
    );
    expect([facts.linesAdded, facts.linesRemoved]).toEqual([4, 2]);
  });
});

describe('commands', () => {
  test('of a script fail if the script printed a failing exit code', () => {
    const printed = JSON.stringify({ chunk_id: 'a', exit_code: 128, output: 'fatal' });
    const facts = factsOf(
      call('s', 'git log'),
      result('s', `Script completed\nWall time 0.2 seconds\nOutput:\n\n${printed}`),
    );
    expect([...facts.commands]).toEqual([['git log', [1, 1, 128, 2]]]);
    expect(facts.failures).toBe(1);
  });

  test('of more than 40 concurrent calls count their failures, for the command and the tool', () => {
    const ids = Array.from({ length: 60 }, (_, n) => `c${n}`);
    const facts = factsOf(
      ...ids.map((id) => call(id, `run ${id}`)),
      ...ids.map((id) => result(id, 'no', { exitCode: 1 })),
    );
    expect(facts.failures).toBe(60);
    expect([...facts.commands.values()].reduce((sum, [, failed]) => sum + failed, 0)).toBe(60);
    expect([...facts.days.values()].map(({ tools }) => tools.get('Bash'))).toEqual([[60, 60]]);
  });

  test('that fail after midnight count for the tool on the day of the call', () => {
    const facts = factsOf(
      ['tool.call', { callId: 'a', name: 'Bash', input: { command: 'sleep' } }, 1_439],
      ['tool.result', { callId: 'a', isError: true }, 1_441],
    );
    const tools = [...facts.days].map(([day, { tools, failures }]) => [day, tools.get('Bash'), failures]);
    expect(tools).toEqual([
      ['2026-11-20', [1, 1], 0],
      ['2026-11-21', undefined, 1],
    ]);
  });

  test('are counted by their line, with the result of the last run', () => {
    const facts = factsOf(
      call('a', 'npm  test'),
      result('a', 'x', { exitCode: 1 }),
      call('b', 'npm test'),
      result('b', 'y', { exitCode: 0 }),
    );
    expect([...facts.commands]).toEqual([['npm test', [2, 1, 0, 4]]]);
  });
});

describe('usage', () => {
  test('counts the largest figures of each response, on the day of its first report', () => {
    const usage = (responseId: string, outputTokens: number, minute: number): Event => [
      'usage',
      { responseId, model: 'm', inputTokens: 100, cacheReadTokens: 50, cached: 'excluded', outputTokens },
      minute,
    ];
    const facts = factsOf(usage('r1', 1, 0), usage('r2', 5, 1), usage('r1', 9, 1_500), usage('r1', 3, 1_501));
    expect([...facts.days].map(([day, of]) => [day, tokensByModel(of)])).toEqual([
      ['2026-11-20', [['m', [300, 100, 0, 14]]]],
    ]);
  });
});

test('a session counts on the day of its first recorded time, even if events without a time precede it', () => {
  const untimed: Event = ['session.meta', { title: 'Of another day' }];
  const began: Event = ['context.message', { text: 'local command' }, -1_440];
  expect([...factsOf(untimed, began).days.keys()]).toEqual(['2026-11-19']);
  expect([...factsOf(untimed).days.keys()]).toEqual(['2026-11-20']);
});

test('a response that is reported again counts once, even after many other responses', () => {
  const usage = (n: number): Event => ['usage', { responseId: `r${n}`, model: 'm', inputTokens: 10, outputTokens: 1 }];
  const history = Array.from({ length: 500 }, (_, n) => usage(n));
  const facts = factsOf(...history, ...history.slice(0, 400), usage(500));
  expect([...facts.days.values()].map(tokensByModel)).toEqual([[['m', [5_010, 0, 0, 501]]]]);
});

describe('where a session belongs', () => {
  test.each([
    ['/home/dev/shop', 'dev'],
    ['/Users/ada/src', 'ada'],
    ['C:\\Users\\Ada\\src', 'Ada'],
    ['/mnt/c/Users/ada/src', 'ada'],
    ['/srv/build', undefined],
  ])('the account of %s is %s', (folder, account) => {
    expect(accountOf(folder)).toBe(account);
  });

  test.each([
    ['git@git.example:o/r.git', 'git.example/o/r'],
    ['https://user:token@git.example/o/r.git', 'git.example/o/r'],
    ['ssh://git@git.example:2222/o/r', 'git.example/o/r'],
    ['https://git.example/o/r/', 'git.example/o/r'],
    ['owner/name', 'owner/name'],
    ['ssh://git@ssh.github.com:443/o/r.git', 'github.com/o/r'],
    ['git@Work:o/r.git', 'work/o/r'],
    ['https://bob:pa/s@s@git.example/o/r.git?token=x#y', 'git.example/o/r'],
    ['git@git.example:/o/r.git', 'git.example/o/r'],
    ['/srv/git/shop.git', '/srv/git/shop.git'],
    ['C:\\src\\shop', 'C:\\src\\shop'],
  ])('%s is the repository %s', (remote, address) => {
    expect(addressOf(remote)).toBe(address);
  });

  test('is reported by the session itself, and a title from a person stays', () => {
    const facts = factsOf(
      ['session.meta', { cwd: '/home/dev/shop', branch: 'main', title: 'Mine', titleBy: 'person', model: 'm1' }],
      ['session.meta', { cwd: '/tmp', branch: 'fix', title: 'Theirs', titleBy: 'agent', repository: 'git@h.test:o/r' }],
      ['assistant.message', { text: 'x', model: '<synthetic>' }],
    );
    expect(facts).toMatchObject({
      ...{ folder: '/home/dev/shop', account: 'dev', branches: ['main', 'fix'] },
      ...{ title: 'Mine', model: 'm1', address: 'h.test/o/r' },
    });
  });
});

test('the shape of a session is its work in 48 slices, for any duration', () => {
  for (const minutes of [0, 1, 60, 100_000]) {
    const facts = factsOf(
      ['user.message', { text: 'x' }, 0],
      ['error', { text: 'x' }, minutes / 2],
      ['assistant.message', { text: 'x' }, minutes],
    );
    const slices = shapeOf(facts.shape, minutes * 60_000);
    expect(slices).toHaveLength(48);
    expect(slices.reduce(([work, failures], [a, b]) => [work + a, failures + b], [0, 0])).toEqual([2, 1]);
    if (minutes > 0) expect(slices[47]).toEqual([1, 0]);
  }
});

describe('any input', () => {
  const long = fc.string({ unit: 'binary', minLength: 0, maxLength: 400 });
  const odd = fc.oneof(
    long,
    fc.double(),
    fc.constantFrom(null, true, -1, 1e308, [], {}),
    fc.array(long, { maxLength: 3 }),
  );
  const types = ['user.message', 'tool.call', 'tool.result', 'usage', 'session.meta', 'turn.finished', 'error', 'odd'];
  const names = [
    ...[
      'text',
      'callId',
      'name',
      'input',
      'output',
      'isError',
      'exitCode',
      'detail',
      'responseId',
      'model',
      'occurredAt',
    ],
    ...['inputTokens', 'outputTokens', 'cwd', 'repository', 'branch', 'title', 'redactions', 'reason', 'source'],
  ];
  const payload = fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 12 });
  const event = fc.tuple(fc.constantFrom(...types), payload).map(([type, fields]): Event => [type, fields]);

  test('is folded, stored as JSON and read back', () => {
    const property = fc.property(fc.array(event, { maxLength: 60, size: 'max' }), (events) => {
      const facts = factsOf(...events);
      expect(writeFacts(readFacts(writeFacts(facts)))).toBe(writeFacts(facts));
    });
    fc.assert(property, runs(200));
  });

  test('stays below 256 KiB, even if every name is new and as long as allowed', () => {
    const name = (kind: string, n: number) => `${kind}${n}\u0001${'\u{1F600}'.repeat(200)}`;
    const events = Array.from({ length: 4_000 }, (_, n): Event[] => [
      ['session.meta', { branch: name('b', n), cwd: `/home/${name('p', n)}`, title: name('t', n) }, n * 2_000],
      ['user.message', { text: name('x', n) }, n * 2_000],
      [
        'tool.call',
        {
          callId: name('c', n),
          name: name('n', n),
          input: { command: `git commit; npm test ${name('k', n)}` },
        },
        n * 2_000,
      ],
      ['tool.result', { callId: name('c', n), output: `[x 1234567] ${name('s', n)}` }, n * 2_000],
      ['tool.call', { callId: name('e', n), name: 'Write', input: { path: name('f', n), content: 'x' } }, n * 2_000],
      ['usage', { responseId: name('r', n), model: name('m', n), inputTokens: 1e12 }, n * 2_000],
    ]).flat();
    const facts = factsOf(...events);
    expect(Buffer.byteLength(writeFacts(facts))).toBeLessThan(256 * 1024);
    expect(facts.prompts).toBe(4_000);
  });
});

describe('a session of which only sub-agents have arrived', () => {
  const of = (lane: string, [type, payload]: Event): Event => [type, { ...payload, source: { subagent: lane } }, 1];
  const meta = (fields: object): Event => ['session.meta', fields, 1];
  const tokens = (responseId: string): Event => ['usage', { responseId, inputTokens: 10, outputTokens: 1 }, 1];
  const place = { cwd: '/home/ada/shop', repository: 'git@git.example:o/shop.git', branch: 'fix' };
  const child = [
    of('c', meta(place)),
    of('c', meta({ model: 'small' })),
    of('c', ['context.message', { kind: 'subagent-prompt', text: 'Review the lock' }, 1]),
    of('c', tokens('r1')),
  ];

  test('has their place, task and models', () => {
    const facts = factsOf(...child);
    expect(facts).toMatchObject({ folder: '/home/ada/shop', address: 'git.example/o/shop', branches: ['fix'] });
    expect(facts.firstPrompt).toBe('Review the lock');
    expect([...facts.days.values()].flatMap(tokensByModel)).toEqual([['small', [10, 0, 0, 1]]]);
  });

  test('has its own place, prompt and model once they arrive, and the tokens of each sub-agent count for its model', () => {
    const facts = factsOf(
      ...child,
      meta({ cwd: '/home/ada/app', branch: 'main', model: 'large' }),
      ['user.message', { text: 'Mend the app' }, 1],
      tokens('r2'),
      of('c', tokens('r3')),
      of('c', meta({ cwd: '/tmp/other', branch: 'other' })),
    );
    expect(facts).toMatchObject({
      folder: '/home/ada/app',
      branches: ['main'],
      firstPrompt: 'Mend the app',
      model: 'large',
    });
    expect(facts.address).toBeUndefined();
    expect([...facts.days.values()].flatMap(tokensByModel)).toEqual([
      ['small', [20, 0, 0, 2]],
      ['large', [10, 0, 0, 1]],
    ]);
    expect(readFacts(writeFacts(facts))).toEqual(facts);
  });
});
