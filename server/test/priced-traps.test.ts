import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { AGENTS } from '../../cli/agents/all.ts';
import { openReading, spooledEvents } from '../../cli/test/reading.ts';
import { noFacts } from '../derive/facts.ts';
import { fold } from '../derive/fold.ts';
import { addSpent, costOfSpent, noSpent, readKey } from '../derive/spent.ts';
import { type Event, entriesOf, priceOf } from './folded.ts';

const FOLDER = fileURLToPath(new URL('../../samples/prices/', import.meta.url));

interface Response {
  model: string;
  purpose?: string;
  speed?: string;
  tier?: string;
  region?: string;
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite1h: number;
  webSearches: number;
  charges?: ({ tokens: number; perMillion: number } | { searches: number; perThousand: number })[];
}

interface Trap {
  name: string;
  title: string;
  agent: string;
  responses: Response[];
  dollars: string | null;
  sources: string[];
}

const { traps }: { traps: Trap[] } = JSON.parse(readFileSync(`${FOLDER}traps.json`, 'utf8'));

/** The events of each session in a trap's home folder, as the command line sends them. */
async function sessionsIn({ name, agent: id }: Trap): Promise<Event[][]> {
  const home = `${FOLDER}${name}`;
  const agent = AGENTS.find((agent) => agent.id === id);
  if (agent === undefined) throw new Error(`there is no agent ${id}`);
  const places = agent.roots({}, home).map((root) => ({ agent, root, below: '' }));
  const { read, spool, troubles } = openReading(home, ':memory:', { agent, places });
  await read();
  expect(troubles).toEqual([]);
  const sessions = [...spooledEvents(spool).values()];
  spool.close();
  return sessions.map((events) => events.map(({ eventType, payload }) => [eventType, payload]));
}

type Counts = Record<string, number>;

function addTo(sums: Map<string, Counts>, key: string, counts: Counts): void {
  const sum = sums.get(key) ?? {};
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  sums.set(key, sum);
}

function tokensOf(sessions: readonly Event[][]): Map<string, Counts> {
  const sums = new Map<string, Counts>();
  for (const events of sessions) {
    const facts = noFacts();
    fold(facts, entriesOf(events), priceOf);
    for (const { models } of facts.days.values()) {
      for (const [key, { tokens }] of models) {
        const [input, cacheRead, cacheWrite, , output] = tokens;
        if (input + output > 0) addTo(sums, readKey(key).model, { input, cacheRead, cacheWrite, output });
      }
    }
  }
  return sums;
}

test.each(traps)('$agent, $name: $title', async (trap) => {
  const expected = new Map<string, Counts>();
  for (const { model, input, cacheRead, cacheWrite, output } of trap.responses) {
    addTo(expected, model, { input, cacheRead, cacheWrite, output });
  }
  expect(tokensOf(await sessionsIn(trap))).toEqual(expected);
});

test.each(traps)('the cost of $name is its value', async (trap) => {
  const total = noSpent();
  for (const events of await sessionsIn(trap)) {
    const facts = noFacts();
    fold(facts, entriesOf(events), priceOf);
    for (const { models } of facts.days.values()) for (const spent of models.values()) addSpent(total, spent);
  }
  const cost = costOfSpent(total);
  expect(cost === null ? null : (cost / 1e9).toFixed(6)).toBe(trap.dollars);
});

const NORMAL: ReadonlySet<unknown> = new Set([undefined, 'standard', 'default', 'not_available']);

/** The terms of a response that differ from the vendor's normal ones. */
const termsOf = ({ purpose, speed, region }: Partial<Response>): string =>
  JSON.stringify([purpose, speed, region].map((term) => (NORMAL.has(term) ? null : term)));

test.each(traps)('the responses of $name have their terms', async (trap) => {
  const reports = new Map<unknown, Partial<Response> & { cacheWrite1hTokens?: number }>();
  for (const [eventType, payload] of (await sessionsIn(trap)).flat()) {
    if (eventType === 'usage') reports.set((payload as { responseId?: string }).responseId, payload);
  }
  const told = [...reports.values()];
  const sumOf = (counts: (number | undefined)[]) => counts.reduce<number>((sum, count = 0) => sum + count, 0);
  expect(new Set(told.map(termsOf))).toEqual(new Set(trap.responses.map(termsOf)));
  expect(sumOf(told.map(({ cacheWrite1hTokens }) => cacheWrite1hTokens))).toBe(
    sumOf(trap.responses.map(({ cacheWrite1h }) => cacheWrite1h)),
  );
  expect(sumOf(told.map(({ webSearches }) => webSearches))).toBe(
    sumOf(trap.responses.map(({ webSearches }) => webSearches)),
  );
});

test.each(traps)('the value of $name is the sum of its charges', ({ responses, dollars, sources }) => {
  const charges = responses.flatMap(({ charges = [] }) => charges);
  const micros = charges.map((charge) =>
    'tokens' in charge ? charge.tokens * charge.perMillion : charge.searches * charge.perThousand * 1_000,
  );
  const sum = micros.reduce((sum, micro) => sum + micro, 0) / 1_000_000;
  expect(charges.length === 0 ? null : sum.toFixed(6)).toBe(dollars);
  expect(sources.length).toBeGreaterThan(0);
});
