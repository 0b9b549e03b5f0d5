import type { Turn } from '../../scenario.ts';
import { suite, tools } from './tools.ts';

const { bash, read, edit, grep, glob, todo } = tools;

const repeat = (times: number): string =>
  `failed=0; for i in $(seq ${times}); do node --test >/dev/null 2>&1 || failed=$((failed+1)); done; echo "$failed of ${times} runs failed"`;

const chancyTest = `  const done: string[] = [];
  let failures = 1;
  const queue = createQueue<string>(
    async (name) => {
      if (name === 'slow') await sleep(Math.random() * 40);
      if (name === 'flaky' && failures-- > 0) throw new Error('connection reset');
      done.push(name);
    },
    { base: 10 },
  );
  queue.push('slow');
  queue.push('flaky');
  await queue.drain();
  assert.deepEqual(done.sort(), ['flaky', 'slow']);
`;
const steadyTest = `  const attempts: string[] = [];
  const queue = createQueue<string>(
    async (name) => {
      attempts.push(name);
      if (attempts.length < 3) throw new Error('connection reset');
    },
    { base: 5 },
  );
  queue.push('mail');
  await queue.drain();
  assert.deepEqual(attempts, ['mail', 'mail', 'mail']);
`;

export const findTheCause: Turn = {
  prompt:
    'The test "drain waits for retried jobs" fails now and then on CI, but never when I look at it. Find out why and fix the cause, please. No longer sleeps in the test.',
  steps: [
    {
      think:
        'An intermittent failure around drain and retries. First reproduce it, then read the code. I should not touch the test before I know whether the test or the queue is wrong.',
      say: "I'll reproduce the failure first, then look for the cause in the queue itself.",
      calls: [
        todo(
          ['in_progress', 'Reproduce the failure', 'Reproducing the failure'],
          ['pending', 'Find the cause', 'Finding the cause'],
          ['pending', 'Write a test that fails every time', 'Writing a test that fails every time'],
          ['pending', 'Fix the queue', 'Fixing the queue'],
        ),
      ],
    },
    { calls: [glob('**/*.ts'), grep('drain', { glob: '*.ts', '-C': 1 })] },
    { calls: [read('src/queue.ts'), read('test/queue.test.ts')], wait: 1 },
    { say: 'Now the suite, twenty times over.', calls: [bash(repeat(20), 'Run the suite twenty times')] },
    {
      think:
        'It fails in a good part of the runs. `drain` resolves when running is 0 and waiting is empty. A job that failed and waits for its retry is in neither: it lives only inside a setTimeout closure. So if "slow" ends before the 10–15 ms backoff of "flaky" is over, next() sees an idle queue and resolves. The random sleep of 0–40 ms decides which comes first. The test is right; the queue is wrong.',
      say: `Found it, and the test is right: \`drain()\` really does resolve too early.

A job has three states, but the queue only counts two of them:

| state | where it lives | counted by \`drain\` |
| --- | --- | --- |
| waiting | \`waiting\` array | yes |
| running | \`running\` counter | yes |
| **waiting for its retry** | a \`setTimeout\` closure | **no** |

Whenever \`slow\` finishes before the back-off of \`flaky\` has passed, the queue looks idle. The random sleep in the test decides who wins. I'll replace it by a test that has nothing random in it.`,
      calls: [
        todo(
          ['completed', 'Reproduce the failure', 'Reproducing the failure'],
          ['completed', 'Find the cause', 'Finding the cause'],
          ['in_progress', 'Write a test that fails every time', 'Writing a test that fails every time'],
          ['pending', 'Fix the queue', 'Fixing the queue'],
        ),
        edit('test/queue.test.ts', chancyTest, steadyTest),
      ],
      wait: 2,
    },
    { calls: [suite] },
    {
      say: 'It fails every time now, for the right reason: one attempt instead of three. Now the queue.',
      calls: [
        edit('src/queue.ts', '  let running = 0;\n', '  let running = 0;\n  let delayed = 0;\n'),
        edit(
          'src/queue.ts',
          '    if (running === 0 && waiting.length === 0) {\n      for',
          '    if (isIdle()) {\n      for',
        ),
        edit(
          'src/queue.ts',
          '    setTimeout(() => {\n      waiting.push',
          '    delayed++;\n    setTimeout(() => {\n      delayed--;\n      waiting.push',
        ),
        edit(
          'src/queue.ts',
          '  /** Resolves when every job has finished. */\n  function drain(): Promise<void> {\n    if (running === 0 && waiting.length === 0) return',
          '  function isIdle(): boolean {\n    return running === 0 && waiting.length === 0 && delayed === 0;\n  }\n\n  /** Resolves when every job has finished, retries included. */\n  function drain(): Promise<void> {\n    if (isIdle()) return',
        ),
      ],
      wait: 1,
    },
    { calls: [suite] },
    {
      say: 'All green. Once more in a loop, because one green run proves little here.',
      calls: [bash(repeat(20), 'Run the suite twenty times')],
    },
    { calls: [bash('git diff --stat && git diff src', 'Show what changed')] },
    {
      calls: [
        todo(
          ['completed', 'Reproduce the failure', 'Reproducing the failure'],
          ['completed', 'Find the cause', 'Finding the cause'],
          ['completed', 'Write a test that fails every time', 'Writing a test that fails every time'],
          ['completed', 'Fix the queue', 'Fixing the queue'],
        ),
      ],
    },
    {
      say: `The queue was wrong, not the test. \`drain()\` forgot jobs that were waiting for their retry.

**What changed**

- \`src/queue.ts\` counts those jobs in \`delayed\`, and one function, \`isIdle()\`, answers the question in both places that ask it.
- \`test/queue.test.ts\` no longer depends on chance: the job fails twice and must have been tried three times when \`drain()\` resolves.

\`\`\`ts
function isIdle(): boolean {
  return running === 0 && waiting.length === 0 && delayed === 0;
}
\`\`\`

Twenty runs in a row passed; before, about half of them failed.`,
    },
  ],
};
