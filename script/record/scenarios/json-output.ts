// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the patches quote code that contains templates.
/** A newer Codex model, which calls its tools from JavaScript, adds an output format while another agent documents it. */
import { tidewatch } from '../projects/tidewatch.ts';
import type { Scenario, SubAgent, Turn } from '../scenario.ts';
import { codexCode } from '../tools.ts';

const { run, runAll, patch, collaborate } = codexCode;

const writer: SubAgent = {
  task: 'Write docs/options.md for tidewatch',
  steps: [
    {
      think:
        '**Collecting the options**\n\nThe options are in one `parseArgs` call; `--json` is being added at the same time by the agent that asked me.',
      calls: [runAll("sed -n '1,40p' src/cli.ts", 'cat README.md', 'ls docs')],
    },
    {
      calls: [
        patch(
          '*** Add File: docs/options.md',
          '+# Options',
          '+',
          '+| option | default | meaning |',
          '+| --- | --- | --- |',
          '+| `--station`, `-s` | `Vlissingen` | where; also `Oostende`, `Harlingen` |',
          '+| `--days`, `-d` | `1` | how many days to list |',
          '+| `--from` | `2026-03-01` | first day, as `YYYY-MM-DD` |',
          '+| `--feet` | off | heights in feet instead of metres |',
          '+| `--json` | off | one JSON object per tide and line, for other programs |',
        ),
      ],
    },
    {
      // Long enough that the parent agent is waiting by then.
      wait: 14,
      say: 'Wrote `docs/options.md`: a table of all five options, `--json` included. The README already links to it.',
    },
  ],
};

const addJson: Turn = {
  prompt:
    'Add `--json` to tidewatch: one object per line with time and height, always metres. The README links to docs/options.md, which is missing; let another agent write that page while you do the code.',
  steps: [
    {
      think:
        '**Splitting the work**\n\nThe page and the code touch different files, so they can be done at the same time. The writer needs the meaning of `--json` from me, since it is not in the code yet.',
      say: "I'll hand the page to another agent and take the code myself.",
      calls: [
        collaborate('spawn_agent', {
          task_name: 'options_page',
          fork_turns: 'none',
          message:
            'Write docs/options.md for tidewatch: a short page with a table of all command-line options in src/cli.ts. Include `--json` (one JSON object per tide and line, always metres), which is being added right now. Touch no other file.',
        }),
      ],
    },
    { calls: [runAll('cat src/cli.ts', 'cat test/tide.test.ts', 'git log --oneline')] },
    {
      say: 'The output is printed straight from the loop, so nothing about it can be tested. I move the formatting into a function of its own and test that.',
      calls: [
        patch(
          '*** Add File: src/format.ts',
          "+import type { Tide } from './tide.ts';",
          '+',
          "+export type Format = 'metres' | 'feet' | 'json';",
          '+',
          '+export function format({ time, height }: Tide, as: Format): string {',
          "+  if (as === 'json') return JSON.stringify({ time: time.toISOString(), height });",
          "+  const shown = as === 'feet' ? `${(height * 3.28084).toFixed(1)} ft` : `${height.toFixed(2)} m`;",
          "+  return `${time.toISOString().slice(0, 16).replace('T', ' ')}  ${shown}`;",
          '+}',
          '*** Add File: test/format.test.ts',
          "+import assert from 'node:assert/strict';",
          "+import { test } from 'node:test';",
          "+import { format } from '../src/format.ts';",
          '+',
          "+const tide = { time: new Date('2026-03-01T05:37:12Z'), height: 2.2468 };",
          '+',
          "+test('metres and feet for people', () => {",
          "+  assert.equal(format(tide, 'metres'), '2026-03-01 05:37  2.25 m');",
          "+  assert.equal(format(tide, 'feet'), '2026-03-01 05:37  7.4 ft');",
          '+});',
          '+',
          "+test('JSON for programs, rounded to centimetres', () => {",
          `+  assert.equal(format(tide, 'json'), '{"time":"2026-03-01T05:37:12.000Z","height":2.25}');`,
          '+});',
        ),
      ],
    },
    { calls: [run('env -u NO_COLOR FORCE_COLOR=1 node --run test')] },
    {
      say: 'The JSON height has more digits than the sketch behind it deserves. I round to centimetres, and switch the command line over.',
      calls: [
        patch(
          '*** Update File: src/format.ts',
          '@@',
          "-  if (as === 'json') return JSON.stringify({ time: time.toISOString(), height });",
          "+  if (as === 'json') return JSON.stringify({ time: time.toISOString(), height: Math.round(height * 100) / 100 });",
          '*** Update File: src/cli.ts',
          '@@',
          " import { parseArgs } from 'node:util';",
          "+import { format } from './format.ts';",
          " import { highTides } from './tide.ts';",
          '@@',
          "     feet: { type: 'boolean', default: false },",
          "+    json: { type: 'boolean', default: false },",
          '   },',
          '@@',
          '-for (const { time, height } of tides) {',
          '-  const shown = values.feet ? `${(height * 3.28084).toFixed(1)} ft` : `${height.toFixed(2)} m`;',
          "-  console.log(`${time.toISOString().slice(0, 16).replace('T', ' ')}  ${shown}`);",
          '-}',
          "+const as = values.json ? 'json' : values.feet ? 'feet' : 'metres';",
          '+for (const tide of tides) console.log(format(tide, as));',
        ),
      ],
    },
    {
      calls: [run('env -u NO_COLOR FORCE_COLOR=1 node --run test && node src/cli.ts --json && node src/cli.ts --feet')],
    },
    { calls: [collaborate('wait_agent', { timeout_ms: 30_000 })] },
    { calls: [run('cat docs/options.md && git status --short')] },
    {
      say: `\`tidewatch --json\` prints one object per line, always in metres and rounded to centimetres:

\`\`\`json
{"time":"2026-03-01T05:37:12.000Z","height":2.25}
\`\`\`

The formatting moved from the loop in \`src/cli.ts\` into \`src/format.ts\`, where it has tests. The other agent wrote \`docs/options.md\`; I checked it against the code.`,
    },
  ],
};

const both: Turn = {
  pause: 8,
  prompt: 'What happens with --json and --feet together?',
  steps: [
    { calls: [run('node src/cli.ts --json --feet')] },
    {
      say: '`--json` wins silently: the height stays in metres. That follows your “always metres”, but a person might expect feet. I would refuse the combination with a message; say so if you want that.',
    },
  ],
};

export const jsonOutput: Scenario = {
  name: 'json-output',
  agent: 'codex',
  model: 'gpt-6.1-sol',
  project: tidewatch,
  subAgents: [writer],
  runs: [{ how: 'start', turns: [addJson, both] }],
};
