import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { Agent, JsonObject } from '../agents/agent.ts';
import { AGENTS } from '../agents/all.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { parseExact } from '../exact.ts';
import { collection, filesOf, readTranscripts, type Transcript } from '../test/agents/corpus.ts';
import { createRestoring } from './record.ts';

/** Records of the known transcripts, and how many of them come back with every value at its place. */
function restoreAll(agent: Agent) {
  const restore = createRestoring(agent);
  const count = { records: 0, same: 0 };
  for (const { origin, path, lines } of transcriptsOf(agent)) {
    const { subagent, ...ofFile } = origin;
    const place = { origin: agent.restored?.namesSubagent ? ofFile : origin, file: path, position: 0 };
    for (const line of lines) {
      const events = parseExact(JSON.stringify(agent.parse(parseExact(line) as JsonObject, place))) as CapturedEvent[];
      const { record } = restore(events, place);
      count.records++;
      if (isSame(record, parseExact(line))) count.same++;
    }
  }
  return count;
}

const isSame = (one: unknown, other: unknown) => canonical(one) === canonical(other);

/** The JSON text with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) && !('rawJSON' in inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const transcriptsOf = (agent: Agent): Transcript[] =>
  filesOf(agent).flatMap((file) => {
    try {
      return readTranscripts(file);
    } catch (error) {
      // Masking of private text has broken some of the collected ones.
      if (collection() === undefined) throw error;
      return [];
    }
  });

/** The share of records that come back as they were. Hand-written fixtures have forms that no agent writes. */
const LEAST: { readonly [agent: string]: number } = {
  'claude-code': 0.95,
  codex: 0.9,
  'copilot-cli': 0.7,
  'qwen-code': 0.75,
  pi: 0.95,
  'oh-my-pi': 0.95,
  droid: 0.9,
};

test.each(AGENTS.filter(({ restored }) => restored !== undefined))(
  'records of $id come back from their events, with every value at its place',
  (agent) => {
    const { records, same } = restoreAll(agent);
    expect(records).toBeGreaterThan(20);
    expect(same / records).toBeGreaterThanOrEqual(LEAST[agent.id] ?? 1);
  },
  300_000,
);

test('a record with any further fields comes back with every value, and any name', () => {
  const restore = createRestoring(claudeCode);
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
      fc.string({ minLength: 1 }),
      (more, text) => {
        const place = { origin: { session: 'a session' }, file: 'a file', position: 0 };
        const said = { type: 'user', sessionId: 'a session', message: { role: 'user', content: text } };
        const record = { ...(JSON.parse(JSON.stringify(more)) as JsonObject), ...said };
        const events = claudeCode.parse(parseExact(JSON.stringify(record)) as JsonObject, place);
        const restored = restore(parseExact(JSON.stringify(events)) as CapturedEvent[], place);
        expect(restored.isExact).toBe(true);
        expect(canonical(restored.record)).toBe(canonical(parseExact(JSON.stringify(record))));
      },
    ),
    runs(100),
  );
});
