/**
 * Records the sample sessions: `node script/record/record.ts --agents <folder> --home <folder> --out <folder> [name…]`.
 * See README.md beside this file.
 */
import { statSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { recordClaudeCode } from './claude-code.ts';
import { recordCodex } from './codex.ts';
import { createModel } from './model.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { createProject } from './workspace.ts';

const BINARIES = {
  'claude-code': 'node_modules/@anthropic-ai/claude-code-linux-x64/claude',
  codex: 'node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex',
};

/** Each agent's folder of sessions below the home folder, and the folder of its samples. */
const SESSIONS = {
  'claude-code': { from: '.claude/projects', to: 'claude-code/projects' },
  codex: { from: '.codex/sessions', to: 'codex/sessions' },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    agents: { type: 'string' },
    home: { type: 'string', default: '/home/dev' },
    out: { type: 'string', default: 'samples' },
  },
});
const { agents, home, out } = values;
if (!agents) throw new Error('--agents must name the folder with the installed agents');

for (const scenario of scenarios.filter(({ name }) => !positionals.length || positionals.includes(name))) {
  console.error(`${scenario.agent}: ${scenario.name}`);
  await record(scenario, agents);
}

async function record(scenario: Scenario, agents: string): Promise<void> {
  const model = await createModel(scenario.subAgents);
  const folder = await createProject(home, scenario.project);
  const place = { binary: join(agents, BINARIES[scenario.agent]), home, folder, model };
  try {
    await (scenario.agent === 'codex' ? recordCodex : recordClaudeCode)(scenario, place);
  } finally {
    model.close();
  }
  if (model.leftover()) console.error(`  ${model.leftover()} scripted answers were never requested`);
  for (const prompt of model.surprises()) console.error(`  unscripted request after: ${prompt}`);
  const { from, to } = SESSIONS[scenario.agent];
  await mkdir(join(out, to), { recursive: true });
  await cp(join(home, from), join(out, to), { recursive: true, filter: isRecord });
}

/** Keeps folders, transcripts and the agents' notes about them; locks and similar files are useless. */
function isRecord(path: string): boolean {
  return statSync(path).isDirectory() || /\.(jsonl|meta\.json)$/.test(path);
}
