import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { transcriptsBelow } from './corpus.ts';
import { compareLeaves } from './leaves.ts';

/**
 * `fixtures/<agent>` is a small folder of sessions in the agent's own format. `golden/<agent>` has the events made from them.
 * `UPDATE_GOLDEN=1 npx vitest run cli/test/agents` rewrites the golden files; read the difference before you commit it.
 */
const folder = (name: string, agent: Agent) => fileURLToPath(new URL(`${name}/${agent.id}`, import.meta.url));

const goldenName = (path: string) => `${path.replace(/\.jsonl?$/, '').replace('#', '/')}.json`;

const files = AGENTS.flatMap((agent) =>
  transcriptsBelow(agent, folder('fixtures', agent)).map((transcript) => ({ agent, ...transcript })),
);

describe.each(files)('$path', ({ agent, path, origin, lines }) => {
  const parse = () => lines.map((line, position) => agent.parse(JSON.parse(line), { origin, file: path, position }));
  const parsed = parse();

  test('gives the reviewed events', () => {
    const golden = join(folder('golden', agent), goldenName(path));
    // An agent that keeps its transcript in the project's folder has that folder's path as `cwd`.
    const own = (key: string, value: unknown) =>
      key === 'cwd' && typeof value === 'string' ? value.replace(folder('fixtures', agent), '/home/dev') : value;
    const text = `${JSON.stringify({ origin, events: parsed.flat() }, own, 1)}\n`;
    if (process.env.UPDATE_GOLDEN) {
      mkdirSync(dirname(golden), { recursive: true });
      writeFileSync(golden, text);
    }
    expect(text).toBe(readFileSync(golden, 'utf8'));
  });

  test('has every leaf of the records exactly once', () => {
    for (const [index, events] of parsed.entries()) {
      expect(compareLeaves(JSON.parse(lines[index] ?? ''), events)).toEqual({ lost: [], doubled: [] });
    }
  });

  test('gives the same events when parsed again', () => {
    expect(parse()).toEqual(parsed);
  });
});
