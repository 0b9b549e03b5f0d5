/** Claude Code adds a rate limit: tasks, a sub-agent in the foreground and one in the background, secrets, and a compaction. */
import { shortlink } from '../projects/shortlink.ts';
import type { Scenario, SubAgent, Turn } from '../scenario.ts';
import { claudeTools } from '../tools.ts';

const { bash, read, write, edit, grep, task, move, agent } = claudeTools('/home/dev/code/shortlink');
const suite = bash('FORCE_COLOR=1 node --run test', 'Run the test suite');

const explorer: SubAgent = {
  task: 'Map how a request to create a link travels',
  steps: [
    {
      think: 'Start with where linksPerMinute and the server are mentioned.',
      calls: [grep('linksPerMinute|createServer|LINKS_PER_MINUTE'), grep('remoteAddress|forwarded')],
    },
    { calls: [read('src/server.ts'), read('src/settings.ts')] },
    { calls: [bash('ls -a && cat .env', 'Look for local settings')] },
    {
      say: `**How a link is created**

1. \`src/server.ts\` handles everything in one listener; \`POST /links\` is its first branch.
2. \`src/links.ts\` stores the target in memory.
3. \`src/settings.ts\` reads \`LINKS_PER_MINUTE\` (default 30). **Nothing uses \`linksPerMinute\`.**

| question | answer |
| --- | --- |
| caller's address | \`request.socket.remoteAddress\`; no proxy header is read anywhere |
| local override | \`.env\` sets 20 (the file also holds credentials) |
| tests | \`test/server.test.ts\` starts the real server on a free port |`,
    },
  ],
};

const reviewer: SubAgent = {
  task: 'Review src/limit.ts of this project for correctness',
  steps: [
    { calls: [read('src/limit.ts'), read('test/limit.test.ts')] },
    {
      think: 'The windows map: entries are never removed. Every address that ever created a link stays.',
      calls: [grep('windows', { path: '/home/dev/code/shortlink/src' })],
    },
    {
      say: 'One finding, medium: `windows` only ever grows. Each address that created a link stays in memory until the process ends; a scan from many addresses is enough to exhaust it. Arithmetic and boundaries are correct and tested.',
    },
  ],
};

const limit = `/** Says whether one more is allowed for a key; counts in windows of one minute. */
export function createLimit(perMinute: number, now: () => number = Date.now) {
  const windows = new Map<string, { start: number; count: number }>();
  return (key: string): boolean => {
    const window = windows.get(key);
    if (!window || now() - window.start > 60_000) {
      windows.set(key, { start: now(), count: 1 });
      return true;
    }
    return ++window.count <= perMinute;
  };
}
`;

const limitTest = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLimit } from '../src/limit.ts';

test('allows as many as the limit says, then again in the next minute', () => {
  let time = 0;
  const allow = createLimit(2, () => time);
  assert.deepEqual([allow('a'), allow('a'), allow('a'), allow('b')], [true, true, false, true]);
  time = 60_000;
  assert.equal(allow('a'), true);
});
`;

const enforce: Turn = {
  prompt:
    'We have a setting `linksPerMinute` that nothing enforces. Find out how requests come in, then enforce it per caller address with a 429.',
  steps: [
    {
      think:
        'Three parts: research, a limiter on its own, wiring. The research can go to an Explore agent, so that file contents do not fill this conversation.',
      say: "I'll split this into three tasks and let an agent map the code first.",
      calls: [
        task('Map the request path', 'Where links are created, where the setting is read', 'Mapping the request path'),
        task('Write the limiter', 'A function with an injectable clock, and its test', 'Writing the limiter'),
        task('Answer 429', 'Use the limiter in the server; document it', 'Wiring the limiter'),
      ],
    },
    {
      calls: [
        move('1', 'in_progress'),
        agent(
          'Map the request path',
          'Map how a request to create a link travels through this project, from the listener to the store. Report where `linksPerMinute` is read and used, how the address of the caller can be known, and how the tests start the server. Read only.',
        ),
      ],
    },
    {
      calls: [
        move('1', 'completed'),
        move('2', 'in_progress'),
        write('src/limit.ts', limit),
        write('test/limit.test.ts', limitTest),
      ],
    },
    { calls: [suite] },
    {
      think: 'At exactly 60 000 ms the window must be over. > should be >=.',
      say: 'An off-by-one: a window of one minute is over *at* 60,000 ms, not after it.',
      calls: [edit('src/limit.ts', 'window.start > 60_000', 'window.start >= 60_000')],
    },
    { calls: [suite] },
    {
      calls: [move('2', 'completed'), move('3', 'in_progress'), read('src/server.ts')],
    },
    {
      calls: [
        edit(
          'src/server.ts',
          "import { createLinks } from './links.ts';\n",
          "import { createLimit } from './limit.ts';\nimport { createLinks } from './links.ts';\n",
        ),
        edit(
          'src/server.ts',
          'const links = createLinks();\n',
          'const links = createLinks();\nconst allow = createLimit(settings.linksPerMinute);\n',
        ),
        edit(
          'src/server.ts',
          "    const target = url.searchParams.get('target');\n    if",
          "    if (!allow(request.socket.remoteAddress ?? '')) {\n      return response.writeHead(429, { 'retry-after': '60' }).end('too many links\\n');\n    }\n    const target = url.searchParams.get('target');\n    if",
        ),
      ],
    },
    {
      calls: [
        bash(
          'PORT=8099 LINKS_PER_MINUTE=3 timeout 3 node src/server.ts & sleep 0.5; for i in 1 2 3 4 5; do curl -s -o /dev/null -w "%{http_code}\\n" -X POST "localhost:8099/links?target=https://example.com/$i"; done; wait',
          'Create five links with a limit of three',
        ),
      ],
    },
    { calls: [suite, move('3', 'completed')] },
    {
      say: `\`POST /links\` now answers **429** with \`Retry-After: 60\` once an address has created \`linksPerMinute\` links within a minute:

\`\`\`
201
201
201
429
429
\`\`\`

- \`src/limit.ts\` is the limiter, with a clock that tests can turn;
- \`src/server.ts\` asks it before anything else;
- following links stays unlimited.`,
    },
  ],
};

const compact: Turn = {
  pause: 7,
  prompt: '/compact Keep the decisions and what is still open',
  steps: [
    {
      wait: 2,
      say: `<analysis>
The user asked for the rate limit to be enforced. An agent mapped the code; the limiter and its wiring are done and tested.
</analysis>

<summary>
1. Primary request: enforce \`linksPerMinute\` per caller address, answering 429.
2. Decisions: fixed windows of one minute, in memory; the address is \`request.socket.remoteAddress\`, proxy headers are not read; following links is not limited.
3. Files: src/limit.ts (new), test/limit.test.ts (new), src/server.ts (uses the limiter before reading the target).
4. Errors and fixes: the window compared with > instead of >= and lasted a millisecond too long.
5. Open: docs/api.md does not mention 429 yet; nothing is committed.
</summary>`,
    },
  ],
};

const review: Turn = {
  pause: 5,
  prompt: 'Which limit applies on this machine? And have somebody review the limiter while you finish the docs.',
  steps: [
    {
      say: 'Review first, so that it runs meanwhile.',
      calls: [
        {
          tool: 'Agent',
          input: {
            description: 'Review the limiter',
            prompt:
              'Review src/limit.ts of this project for correctness, boundaries and memory. Report findings only; change nothing.',
            subagent_type: 'general-purpose',
            run_in_background: true,
          },
        },
        bash('cat .env', 'Show the local settings'),
        read('docs/api.md'),
      ],
    },
    {
      wait: 3,
      calls: [
        edit(
          'docs/api.md',
          '302.\n',
          '302.\n\nAn address that creates more than `LINKS_PER_MINUTE` links within a minute is answered 429 with `Retry-After: 60`.\n',
        ),
      ],
    },
    {
      think: 'The review came back: the map grows for ever. Drop ended windows when a new one begins.',
      say: 'The review is back with one finding, and it is right: windows of addresses that never return stay in memory. I drop ended windows whenever a new one begins.',
      calls: [
        edit(
          'src/limit.ts',
          '      windows.set(key, { start: now(), count: 1 });\n',
          '      for (const [other, { start }] of windows) if (now() - start >= 60_000) windows.delete(other);\n      windows.set(key, { start: now(), count: 1 });\n',
        ),
      ],
    },
    { calls: [suite] },
    {
      say: `On this machine the limit is **20**: \`.env\` overrides the default of 30. (The file also holds a database password and a token; I did not repeat them anywhere.)

The reviewer found that the limiter never forgot an address. It now drops ended windows. \`docs/api.md\` describes the 429.`,
    },
  ],
};

export const rateLimit: Scenario = {
  name: 'rate-limit',
  agent: 'claude-code',
  model: 'claude-opus-5-5',
  project: shortlink,
  subAgents: [explorer, reviewer],
  runs: [{ how: 'start', turns: [enforce, compact, review] }],
};
