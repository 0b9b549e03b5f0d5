import { describe, expect, test } from 'vitest';
import { commandOf, outcomeOf, purposesOf, subjectsOf } from './command.ts';
import { aboutCall } from './tool.ts';

describe('the command of a call', () => {
  test.each([
    [{ command: 'git status' }, 'git status'],
    [{ cmd: 'ls' }, 'ls'],
    [{ command: ['bash', '-lc', 'npm test'] }, 'bash -lc npm test'],
    ['{"command":["go","test"]}', 'go test'],
    [{ commands: ['cd /src', 'npm test'] }, 'cd /src\nnpm test'],
    [{ command: ['ls', 7] }, undefined],
    [{ commands: [{}] }, undefined],
    [{ file_path: '/a' }, undefined],
    ['not json', undefined],
    [undefined, undefined],
  ])('of %j is %j', (input, command) => {
    expect(commandOf(input)).toBe(command);
  });
});

test.each([
  [{ commands: ['ls -l', 'pwd'] }, 'ls -l pwd'],
  [{ todos: [{ content: 'x' }] }, 'todos: 1 item'],
  [{ todos: [{}, {}] }, 'todos: 2 items'],
])('a call with %j is shown in one line as %j', (input, line) => {
  expect(aboutCall(input)).toBe(line);
});

describe('the purpose of a command', () => {
  const RUN = ['exit_of_tests', 'tests'];

  test.each([
    ['git commit -m "Add a lock"', ['commit']],
    ['cd /src && git -C . add . && git commit -q', ['commit']],
    ['git log --grep commit', []],
    ['git status; echo commit', []],
    ['gh pr create --title "x"', ['pull_request']],
    ['gh pr view 7', []],
    ['npx vitest run a.test.ts', RUN],
    ['pnpm run test', RUN],
    ['./gradlew :app:test', RUN],
    ['cargo nextest run', RUN],
    ['python -m pytest -q', RUN],
    ['node --experimental-strip-types --test', RUN],
    ['FORCE_COLOR=1 node --run test', RUN],
    ["bash -lc 'cd app && timeout -k 5 300 npm test 2>&1'", RUN],
    ['bash -lc npm test', RUN],
    ['cd "$(git rev-parse --show-toplevel)" && CI=1 npx --yes jest', RUN],
    ['npm ci; npm test -- --grep "a; b"', RUN],
    ['(cd app && \\\n./node_modules/.bin/vitest)', RUN],
    ['script/test --fast', RUN],
    ['cat test.ts', []],
    ['ls vitest.config.ts', []],
  ])('of `%s` is %j', (command, purposes) => {
    expect(purposesOf(command).sort()).toEqual(purposes);
  });

  test.each([
    ['npm test && git commit -am done', ['commit', 'success_of_tests', 'tests']],
    ['npm test && git push', ['push', 'success_of_tests', 'tests']],
    ['npm run lint && npm test', ['success_of_tests', 'tests']],
    ['cd app && npm ci && npm test', ['success_of_tests', 'tests']],
    ['set -euo pipefail\nnpm ci\nnpm test', ['success_of_tests', 'tests']],
    ["bash -ec 'npm ci; npm test'", ['success_of_tests', 'tests']],
    ['cd app && npm test && npx playwright test', RUN],
    ['. .venv/bin/activate && export CI=1 && pytest', RUN],
    ["npm test # doesn't take long; nor much", RUN],
    ["# Isn't slow\nnpm test", RUN],
  ])('is tests by success only, if another part may fail: `%s` has %j', (command, purposes) => {
    expect(purposesOf(command).sort()).toEqual(purposes);
  });

  test.each([
    'npm install -D vitest',
    'echo x # && npm test',
    'ls # ; npm test',
    'grep -rn "npm test" docs',
    'echo "a && npm test"',
    'which pytest',
    'pytest --version',
    'npm test || true',
    'npm test; echo done',
    'npm test | tail -5',
    'npm test &',
    '! npm test',
    'for n in 1 2 3; do npm test; done',
    'failed=0; for i in $(seq 20); do node --test >/dev/null || failed=$((failed+1)); done; echo "$failed of 20 failed"',
    "cat > check.sh <<'EOF'\nnpm test\nEOF",
    "bash -c 'npm test || true'",
    'echo $(cd app && npm test)',
  ])('may include tests, but its exit code does not show their result: `%s`', (command) => {
    expect(purposesOf(command)).toEqual(['tests']);
  });

  test('is found quickly, even in a hostile command', () => {
    const texts = ['git '.repeat(100_000), 'mvn x '.repeat(50_000), `${'['.repeat(300_000)}]`];
    for (const text of texts) expect(purposesOf(text)).toEqual([]);
    const pieces = [
      'A=1 ',
      '( ',
      'npx -a ',
      'npx 1 ',
      'sh -c ',
      '$(',
      '"',
      '"\\',
      "'",
      '\\\n',
      '&&',
      'sudo ',
      ' #',
      'set -',
    ];
    for (const piece of pieces)
      expect(purposesOf(`${piece.repeat(3_900 / piece.length)} npm test;ls`)).toEqual(['tests']);
    expect(outcomeOf(`${'[a '.repeat(200_000)}`)).toEqual({});
  });
});

describe('the outcome in an output', () => {
  test.each([
    ['[main 1a2b3c4] Add a lock\n 1 file changed', { commits: [{ hash: '1a2b3c4', subject: 'Add a lock' }] }],
    ['[main (root-commit) abcdef0] First', { commits: [{ hash: 'abcdef0', subject: 'First' }] }],
    ['[1/3] Building 1234567] x', {}],
    ['Creating…\nhttps://git.example/o/r/pull/12\n', { pullRequest: 'https://git.example/o/r/pull/12' }],
    [' Tests  2 failed | 5 passed (7)', { testsPassed: false }],
    ['\u001b[32m Tests \u001b[39m \u001b[32m5 passed\u001b[39m (5)', { testsPassed: true }],
    ['Tests:       1 failed, 10 passed, 11 total', { testsPassed: false }],
    ['===== 3 passed in 0.1s =====', { testsPassed: true }],
    ['===== 1 failed, 3 passed in 0.1s =====', { testsPassed: false }],
    ['test result: ok. 3 passed; 0 failed', { testsPassed: true }],
    ['ok  \texample.test/pkg\t0.01s', { testsPassed: true }],
    ['--- FAIL: TestX (0.00s)\nok  \texample.test/pkg\t0.01s', { testsPassed: false }],
    ['# fail 0\n', { testsPassed: true }],
    ['3 examples, 1 failure', { testsPassed: false }],
    ['Ran 2 tests in 0.001s\n\nOK\n', { testsPassed: true }],
    ['Ran 2 tests in 0.001s\n\nFAILED (failures=1)', { testsPassed: false }],
    ['nothing of the kind', {}],
  ])('%j', (output, outcome) => {
    expect(outcomeOf(output)).toEqual(outcome);
  });

  test('is found at the end of a long output', () => {
    expect(outcomeOf(`${'x\n'.repeat(100_000)}[main 1a2b3c4] At last`)).toMatchObject({
      commits: [{ hash: '1a2b3c4' }],
    });
  });
});

describe('the subjects of the commits of a command', () => {
  test.each([
    [`git commit -qm 'Add a lock'`, ['Add a lock']],
    [
      `git add . && git commit -q -m "Fix it" -m "At length" && git commit --message='Then this'`,
      ['Fix it', 'Then this'],
    ],
    [`git commit -q -F - <<'EOF'\nAdd\nEOF`, []],
    [`git commit -m "$(cat <<'EOF'\nAdd a lock\n\nBody\nEOF\n)"`, ['Add a lock']],
    ['git commit --amend --no-edit', []],
    ['echo "commit -m nothing"', []],
  ])('%s', (command, subjects) => {
    expect(subjectsOf(command)).toEqual(subjects);
  });

  test('are found as quickly if many messages begin and none ends', () => {
    expect(subjectsOf(`${'commit -m '.repeat(5_000)}"`)).toEqual([]);
    expect(subjectsOf(`commit -m "${'\\"'.repeat(5_000)}`)).toHaveLength(1);
  });
});
