import type { Turn } from '../../scenario.ts';
import { suite, tools } from './tools.ts';

const { bash, read, write, edit } = tools;

export const respectTheCap: Turn = {
  pause: 9,
  prompt: 'Great. In production I saw retry delays above `cap`, though. Can that be?',
  steps: [
    {
      think: 'Probably the jitter is added after the minimum is taken.',
      calls: [read('src/backoff.ts'), read('test/backoff.test.ts')],
    },
    {
      say: 'Yes, it can. The jitter is added *after* the delay was limited, so a delay may exceed `cap` by half. A test first:',
      calls: [
        edit(
          'test/backoff.test.ts',
          '  assert.deepEqual(delays, [10, 20, 40, 80]);\n});\n',
          `  assert.deepEqual(delays, [10, 20, 40, 80]);
});

test('never exceeds the cap, whatever the jitter', () => {
  const delays = [5, 6, 20].map((attempt) => backoff(attempt, { base: 10, cap: 100, random: () => 0.999 }));
  assert.deepEqual(delays, [100, 100, 100]);
});
`,
        ),
      ],
    },
    { calls: [bash('FORCE_COLOR=1 node --test test/backoff.test.ts', 'Run the back-off tests')] },
    {
      // This deliberately differs from the file, since refused edits are part of everyday sessions.
      calls: [
        edit(
          'src/backoff.ts',
          '  const delay = Math.min(cap, base * 2 ** attempt);\n  return delay + delay * 0.5 * random();',
          '  const delay = base * 2 ** attempt;\n  return Math.min(cap, Math.round(delay + delay * 0.5 * random()));',
        ),
      ],
    },
    {
      say: 'I quoted the line from memory and missed the `Math.round`. Again, with the text as it is:',
      calls: [
        edit(
          'src/backoff.ts',
          '  const delay = Math.min(cap, base * 2 ** attempt);\n  return Math.round(delay + delay * 0.5 * random());',
          '  const delay = base * 2 ** attempt;\n  return Math.min(cap, Math.round(delay + delay * 0.5 * random()));',
        ),
      ],
    },
    { calls: [suite] },
    {
      say: `Fixed: the cap is now applied last, to the delay *with* its jitter.

One consequence you should know: once the exponential part has reached the cap, there is no spread any more and jobs that fail together also retry together. If that matters to you, *full jitter* (a random delay between 0 and the cap) would be the usual answer. I left it alone, because it changes the average delay.`,
    },
  ],
};

export const pauseAndResume: Turn = {
  pause: 12,
  prompt:
    'Fine as it is. Now add `pause()` and `resume()` to the queue: running jobs finish, no new ones start. With tests, README and changelog.',
  steps: [
    {
      think:
        'pause sets a flag checked in next(); resume clears it and calls next(). What about drain while paused? It should wait: jobs are still in `waiting`, so isIdle is false. Good, no special case.',
      say: 'A flag that `next()` respects is enough; `drain()` keeps waiting while jobs are held back, since they stay in `waiting`. I start with the tests.',
      calls: [
        write(
          'test/pause.test.ts',
          `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createQueue } from '../src/queue.ts';

test('starts no job while paused', async () => {
  const done: string[] = [];
  const queue = createQueue<string>(async (name) => void done.push(name));
  queue.pause();
  queue.push('a');
  await new Promise(setImmediate);
  assert.deepEqual(done, []);
});

test('resume starts what has piled up', async () => {
  const done: string[] = [];
  const queue = createQueue<string>(async (name) => void done.push(name));
  queue.pause();
  queue.push('a');
  queue.push('b');
  queue.resume();
  await queue.drain();
  assert.deepEqual(done, ['a', 'b']);
});
`,
        ),
      ],
    },
    { calls: [bash('FORCE_COLOR=1 node --test test/pause.test.ts', 'Run the new tests')] },
    {
      calls: [
        edit('src/queue.ts', '  let delayed = 0;\n', '  let delayed = 0;\n  let paused = false;\n'),
        edit('src/queue.ts', '    while (running < concurrency', '    while (!paused && running < concurrency'),
        edit(
          'src/queue.ts',
          '  return { push, drain };',
          `  /** Lets running jobs finish and starts no new ones. */
  function pause(): void {
    paused = true;
  }

  function resume(): void {
    paused = false;
    next();
  }

  return { push, pause, resume, drain };`,
        ),
      ],
    },
    { calls: [suite] },
    { calls: [read('README.md'), read('CHANGELOG.md')] },
    {
      calls: [
        edit(
          'README.md',
          'await mails.drain();\n```\n',
          'await mails.drain();\n```\n\n`mails.pause()` lets running jobs finish and starts no new ones until `mails.resume()`.\n',
        ),
        edit(
          'CHANGELOG.md',
          '# Changelog\n',
          `# Changelog

## Pending

- \`pause()\` and \`resume()\`.
- \`drain()\` waits for jobs that are going to be retried.
- A retry's delay never exceeds \`cap\`.
`,
        ),
      ],
    },
    {
      say: `\`pause()\` and \`resume()\` are in:

1. \`src/queue.ts\`: a \`paused\` flag, respected in the one place where jobs are started;
2. \`test/pause.test.ts\`: two tests, which failed before;
3. \`README.md\` and \`CHANGELOG.md\`; the changelog also names the two fixes from before.`,
    },
  ],
};

export const commit: Turn = {
  prompt: 'Commit this as three commits, please: the two fixes and the feature.',
  steps: [
    {
      say: "I'll see what there is first.",
      calls: [bash('git status --short && git diff --stat', 'Show uncommitted changes')],
    },
    {
      think:
        'queue.ts holds both the drain fix and pause. Hunks cannot be picked without an interactive prompt, so: commit the back-off first, keep the full file aside, commit the reduced one, then bring the full one back.',
      calls: [
        bash(
          "git add src/backoff.ts test/backoff.test.ts && git commit -q -m 'Keep retry delays below the cap' && git log --oneline",
          'Commit the back-off fix',
        ),
      ],
    },
    {
      calls: [
        bash(
          "cp src/queue.ts /tmp/queue.full.ts && sed -i -e '/let paused = false;/d' -e 's/!paused && //' -e '/Lets running jobs finish/,/^  return/c\\  return { push, drain };' src/queue.ts && git diff src/queue.ts && node --test test/queue.test.ts 2>&1 | tail -8",
          'Reduce the queue to the drain fix and test it',
        ),
      ],
    },
    {
      calls: [
        bash(
          "git add src/queue.ts test/queue.test.ts && git commit -q -m 'Let drain wait for retried jobs' && mv /tmp/queue.full.ts src/queue.ts && git add . && git commit -q -m 'Add pause and resume' && git log --stat --format='%h %s' -3",
          'Commit the drain fix and the feature',
        ),
      ],
    },
    { calls: [suite] },
    {
      say: `Three commits, and the suite passes on the last one:

- **Keep retry delays below the cap**
- **Let drain wait for retried jobs**
- **Add pause and resume** (with README and changelog)`,
    },
  ],
};
