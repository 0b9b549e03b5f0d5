import { describe, expect, test } from 'vitest';
import { commandOf, outcomeOf, purposesOf, subjectsOf } from './command.ts';
import { readShell } from './shell.ts';
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
    ['gh pr create --title "x"', ['pull_request']],
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
    ['mise run test', RUN],
    ['mise run test:ci', RUN],
    ['mise exec -- go test ./...', RUN],
    ['pnpm --filter @shop/api test', RUN],
    ['pnpm -F api test', RUN],
    ['pnpm -r test', RUN],
    ['pnpm -w test', RUN],
    ['pnpm --dir app exec vitest run', RUN],
    ['yarn workspace api test', RUN],
    ['yarn workspaces foreach -A run test', RUN],
    ['npm -w api test', RUN],
    ['npm --prefix api run test:unit', RUN],
    ['npm t', RUN],
    ['nx test api', RUN],
    ['nx run api:test', RUN],
    ['npx nx affected -t test', RUN],
    ['nx run-many --target=test', RUN],
    ['turbo run test --filter=api', RUN],
    ['just test', RUN],
    ['task test', RUN],
    ['make -C api test', RUN],
    ['go -C api test ./...', RUN],
    ['cargo +nightly test', RUN],
    ['tox -e py312', RUN],
    ['gotestsum ./...', RUN],
    ['python manage.py test', RUN],
    ['./manage.py test', RUN],
    ['php artisan test', RUN],
    ['ng test', RUN],
    ['flutter test', RUN],
    ['hatch test', RUN],
    ['npx cypress run', RUN],
    ['npx playwright test', RUN],
    ['uv run pytest -q', RUN],
    ['uv run --with x python -m pytest', RUN],
    ['poetry run pytest', RUN],
    ['docker compose exec -T web pytest -q', RUN],
    ['docker compose -f dev.yml run --rm web npm test', RUN],
    ['docker exec -w /app web npm test', RUN],
    ['sudo -u dev env CI=1 nice -n 5 npm test', RUN],
    ['bash script/test', RUN],
    ['bash -c "cd app; npm test"', RUN],
    ['ruby -Itest test/cart_test.rb', RUN],
    ['mvn -q -pl api test', RUN],
    ['npm test > out.log 2>&1', RUN],
    ['deno task test', RUN],
    ['test -f package.json && npm ci', []],
    ['make build', []],
    ['npm run build-test-image', []],
    ['pnpm --filter test build', []],
    ['npm install -D vitest', []],
    ['pytest --version', []],
    ['$(echo make) build', []],
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
    'npm test || true',
    'npm test; echo done',
    'npm test | tail -5',
    'npm test &',
    '! npm test',
    'for n in 1 2 3; do npm test; done',
    'failed=0; for i in $(seq 20); do node --test >/dev/null || failed=$((failed+1)); done; echo "$failed of 20 failed"',
    "bash -c 'npm test || true'",
    'echo $(cd app && npm test)',
    'out=$(npm test); echo "$out"',
    'diff <(npm test) before.txt',
    "ssh ci.example 'true'; timeout 5 bash -c 'npm test'; ls",
  ])('includes tests, but its exit code does not show their result: `%s`', (command) => {
    expect(purposesOf(command)).toEqual(['tests']);
  });

  test.each([
    'cat test.ts',
    'ls vitest.config.ts',
    'git log --grep commit',
    'git status; echo commit',
    'git -C app show HEAD~2:out.log',
    'git diff | grep passed',
    'gh pr view 7',
    'gh run view 12 --log | tail -20',
    'echo x # && npm test',
    'ls # ; npm test',
    'grep -rn "npm test" docs',
    'echo "a && npm test"',
    'which pytest',
    "cat > check.sh <<'EOF'\nnpm test\nEOF",
    'cd app && sed -n 1,20p out.log 2>/dev/null || true',
    'for log in *.log; do tail -3 "$log"; done',
    'sleep 30; tail -f /tmp/npm-test.log | head -5',
    'docker compose logs web',
    'find . -name "*.log" | xargs cat',
    'if [ -f out.log ]; then cat out.log; fi',
    'echo $((1 + 2))',
  ])('is reading, so that a summary of tests in its output is not a run: `%s`', (command) => {
    expect(purposesOf(command)).toEqual(['reading']);
  });

  test('is found quickly, even in a hostile command', () => {
    const texts = ['git '.repeat(100_000), 'mvn x '.repeat(50_000), `${'['.repeat(300_000)}]`];
    for (const text of texts) expect(purposesOf(text)).not.toContain('tests');
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
    for (const piece of pieces) {
      const text = `${piece.repeat(3_900 / piece.length)} npm test;ls`;
      expect(purposesOf(text).length).toBeLessThan(3);
      // Each character is read once for each level of nesting at most.
      const words = readShell(text).flatMap(({ words }) => words);
      expect(words.join('').length).toBeLessThan(12 * text.length);
    }
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
