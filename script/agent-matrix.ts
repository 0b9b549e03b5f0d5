import { readFileSync } from 'node:fs';
import { AGENTS } from '../cli/agents/all.ts';
import { FEATURES, type Feature, featuresOf, readTested, sampleEvents } from '../cli/test/agents/features.ts';
import type { AgentId } from '../contract/agent.ts';
import { MISSING, NOT_RUN, NOT_TRIED, UNSUPPORTED } from './agent-reasons.ts';

export const AGENTS_PAGE = 'docs/agents.md';

const [BEGIN, END] = ['<!-- matrix: written by `npm run generate` -->', '<!-- end of the matrix -->'];

/** The page with the support matrix of what the tests have seen. Throws if a cell lacks its reason, or has one that is not true. */
export function agentsPage(): string {
  const page = readFileSync(AGENTS_PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${AGENTS_PAGE} lacks the lines "${BEGIN}" and "${END}".`);
  return `${page.slice(0, before)}${BEGIN}\n\n${matrix()}\n${page.slice(after)}`;
}

interface Row {
  name: string;
  version: string;
  cells: string[];
  reasons: string[];
}

function matrix(): string {
  const rows = [...AGENTS.map(({ id, displayName }) => rowOf(id, displayName)), ...UNSUPPORTED.map(unsupported)];
  const table = [
    ['agent', ...FEATURES, 'version last tested'],
    [...FEATURES, '', ''].map(() => '---'),
    ...rows.map(({ name, cells, version }) => [name, ...cells, version]),
  ];
  const reasons = rows
    .filter((row) => row.reasons.length > 0)
    .map((row) => `- **${row.name}**: ${row.reasons.join('. ')}.`);
  return `${table.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}
Reasons for every cell that is not \`yes\`:

${reasons.join('\n')}
`;
}

function rowOf(agent: AgentId, name: string): Row {
  const tested = readTested()[agent];
  const samples = featuresOf(sampleEvents(agent));
  const reasons = new Map<string, Feature[]>();
  const wrong: string[] = [];
  const cells = FEATURES.map((feature) => {
    const missing = MISSING[agent]?.[feature];
    const isSeen = tested?.features.includes(feature) ?? false;
    const isInSample = samples.has(feature);
    if (missing !== undefined && (isSeen || isInSample))
      wrong.push(`a test has seen ${feature}, so it needs no reason`);
    if (isSeen) return 'yes';
    const reason = missing ?? (tested === undefined ? NOT_RUN[agent] : NOT_TRIED[feature]);
    if (reason === undefined) wrong.push(`no test has seen ${feature}, so it needs a reason`);
    else reasons.set(reason, [...(reasons.get(reason) ?? []), feature]);
    return isInSample ? 'sample' : 'no';
  });
  if (wrong.length > 0) throw new Error(`Correct script/agent-reasons.ts for ${name}: ${wrong.join('; ')}.`);
  return {
    name,
    version: tested?.version ?? '–',
    cells,
    reasons: [...reasons].map(([reason, features]) => `${features.join(', ')}: ${reason}`),
  };
}

const unsupported = ({ name, reason }: (typeof UNSUPPORTED)[number]): Row => ({
  name,
  version: '–',
  cells: FEATURES.map(() => 'no'),
  reasons: [reason],
});
