/** A small in-memory job queue with two bugs: `drain` overlooks jobs that wait for a retry, and jitter exceeds the cap. */
import type { Project } from '../scenario.ts';

const manifest = `{
  "name": "backlog",
  "version": "0.4.0",
  "description": "A small in-memory job queue with retries",
  "type": "module",
  "license": "MIT",
  "engines": { "node": ">=22" },
  "exports": "./src/queue.ts",
  "scripts": {
    "test": "node --test"
  }
}
`;

const queue = `import { backoff } from './backoff.ts';

export type Job<T> = { id: number; payload: T; attempt: number };

export type QueueOptions = {
  /** How many jobs run at the same time. */
  concurrency?: number;
  /** How often a failing job is tried again. */
  retries?: number;
  /** Delay before the first retry, and the longest delay, in milliseconds. */
  base?: number;
  cap?: number;
};

export function createQueue<T>(work: (payload: T) => Promise<void>, options: QueueOptions = {}) {
  const { concurrency = 2, retries = 3, base = 10, cap = 1_000 } = options;
  const waiting: Job<T>[] = [];
  const idle: (() => void)[] = [];
  let running = 0;
  let nextId = 1;

  function push(payload: T): number {
    const job = { id: nextId++, payload, attempt: 0 };
    waiting.push(job);
    next();
    return job.id;
  }

  function next(): void {
    while (running < concurrency && waiting.length > 0) {
      const job = waiting.shift();
      if (job) void run(job);
    }
    if (running === 0 && waiting.length === 0) {
      for (const resolve of idle.splice(0)) resolve();
    }
  }

  async function run(job: Job<T>): Promise<void> {
    running++;
    try {
      await work(job.payload);
    } catch {
      if (job.attempt < retries) retry(job);
    } finally {
      running--;
      next();
    }
  }

  function retry(job: Job<T>): void {
    const delay = backoff(job.attempt, { base, cap });
    setTimeout(() => {
      waiting.push({ ...job, attempt: job.attempt + 1 });
      next();
    }, delay);
  }

  /** Resolves when every job has finished. */
  function drain(): Promise<void> {
    if (running === 0 && waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => idle.push(resolve));
  }

  return { push, drain };
}
`;

const backoff = `export type BackoffOptions = { base: number; cap: number; random?: () => number };

/** Exponential delay in milliseconds, spread by up to half of itself so that failing jobs do not march in step. */
export function backoff(attempt: number, { base, cap, random = Math.random }: BackoffOptions): number {
  const delay = Math.min(cap, base * 2 ** attempt);
  return Math.round(delay + delay * 0.5 * random());
}
`;

const queueTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createQueue } from '../src/queue.ts';

test('runs every job', async () => {
  const done: string[] = [];
  const queue = createQueue<string>(async (name) => void done.push(name));
  queue.push('a');
  queue.push('b');
  queue.push('c');
  await queue.drain();
  assert.deepEqual(done, ['a', 'b', 'c']);
});

test('never runs more than the allowed number of jobs at once', async () => {
  let now = 0;
  let most = 0;
  const queue = createQueue<number>(
    async () => {
      most = Math.max(most, ++now);
      await sleep(2);
      now--;
    },
    { concurrency: 3 },
  );
  for (let job = 0; job < 10; job++) queue.push(job);
  await queue.drain();
  assert.equal(most, 3);
});

test('drain waits for retried jobs', async () => {
  const done: string[] = [];
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
});
`;

const backoffTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff } from '../src/backoff.ts';

test('doubles with each attempt', () => {
  const delays = [0, 1, 2, 3].map((attempt) => backoff(attempt, { base: 10, cap: 1_000, random: () => 0 }));
  assert.deepEqual(delays, [10, 20, 40, 80]);
});
`;

const changelog = `# Changelog

## 0.4.0

- \`createQueue\` takes \`concurrency\`.

## 0.3.1

- A rejected job no longer stops the queue.
`;

const readme = `# backlog

A small in-memory job queue with retries.

\`\`\`ts
import { createQueue } from 'backlog';

const mails = createQueue(sendMail, { concurrency: 4, retries: 5 });
mails.push({ to: 'robin@vale.example', subject: 'Hello' });
await mails.drain();
\`\`\`
`;

export const backlog: Project = {
  name: 'backlog',
  files: {
    'package.json': manifest,
    'src/queue.ts': queue,
    'src/backoff.ts': backoff,
    'test/queue.test.ts': queueTest,
    'test/backoff.test.ts': backoffTest,
    'CHANGELOG.md': changelog,
    'README.md': readme,
    '.gitignore': 'node_modules/\n.env\n',
  },
};
