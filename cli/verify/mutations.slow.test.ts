import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patience, runs } from '../../contract/test/runs.ts';
import { placeFixtures, type RealService, type StoredEvent, startRealService } from '../test/real-service.ts';
import { generateTranscripts } from '../test/transcripts.ts';
import type { Difference } from './report.ts';

type Json = Record<string, unknown>;

interface Mutation {
  name: 'remove' | 'double' | 'retype' | 'value' | 'lose' | 'add';
  /** The event, and one of its leaves, as shares of all. */
  event: number;
  leaf: number;
}

const share = fc.double({ min: 0, max: 0.999_999, noNaN: true });
const mutation: fc.Arbitrary<Mutation> = fc.record({
  name: fc.constantFrom('remove', 'double', 'retype', 'value', 'lose', 'add'),
  event: share,
  leaf: share,
});

test(
  'each lost, doubled or changed event is named, and no other',
  async () => {
    const real = await startRealService();
    placeFixtures(real.home);
    generateTranscripts(real.home, { seed: 11, sessions: 2, records: 40 });
    expect(await real.run('import')).toMatchObject({ exitCode: 0 });
    // Further differences in a masked event cannot be detected.
    const isMasked = (payload: Json) => JSON.stringify(payload).includes('[REDACTED:') || 'redactions' in payload;
    const events = (await real.events()).filter(({ payload }) => payload.part === undefined && !isMasked(payload));
    const files = new Set(events.map(({ payload }): string => payload.source.file));
    const back = await real.remember();
    let tried = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 6 }), async (mutations) => {
        const chosen = new Map(mutations.map((one) => [Math.floor(one.event * events.length), one]));
        const expected: string[] = [];
        // The order is from the end, so that the earlier numbers stay.
        for (const [number, one] of [...chosen].sort(([a], [b]) => b - a)) {
          expected.push(await mutate(real, events[number] as StoredEvent, one));
        }
        const { exitCode, findings } = await real.verify();
        await back();
        expect(findings.map((finding) => nameOf(finding as Difference, files)).sort()).toEqual(expected.sort());
        expect(exitCode).toBe(1);
        tried++;
      }),
      { ...runs(8), endOnFailure: true },
    );
    expect(tried).toBeGreaterThan(0);
    expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [] });
  },
  patience(300_000),
);

/** Changes the event, and returns the expected finding. */
async function mutate(real: RealService, event: StoredEvent, { name, leaf }: Mutation): Promise<string> {
  const { number, eventType, payload } = event;
  const { file, position } = payload.source;
  const place = `${file}:${position}`;
  if (name === 'remove') await real.remove(number);
  else if (name === 'double') await real.double(number);
  else if (name === 'retype') {
    await real.change(number, (events, at) =>
      events.map((one, index) => (index === at ? { ...one, eventType: 'mutated' } : one)),
    );
    return `different ${place} ${eventType}`;
  } else {
    const leaves = leavesOf(payload);
    const { parent, key } = leaves[Math.floor(leaf * leaves.length)] as Leaf;
    await real.alter(number, (stored) => {
      const target = follow(stored, parent);
      if (name === 'value') target[key] = 'mutated';
      else if (name === 'lose' && !Array.isArray(target)) delete target[key];
      else if (name === 'add' && !Array.isArray(target)) target[`${key} mutated`] = 1;
      else target[key] = 'mutated';
    });
    return `different ${place} ${eventType}`;
  }
  return `${name === 'remove' ? 'missing' : 'doubled'} ${place} ${eventType}`;
}

function nameOf({ problem, file = '', position, eventType }: Difference, files: ReadonlySet<string>): string {
  const [path] = [...files].filter((name) => file.endsWith(`/${name}`)).sort((one, other) => other.length - one.length);
  return `${problem} ${path}:${position} ${eventType}`;
}

interface Leaf {
  parent: string[];
  key: string;
}

/** The leaves of the event's content. Its source is left alone. */
function leavesOf(payload: Json): Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (value: unknown, path: string[]) => {
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    for (const [key, inner] of entries) visit(inner, [...path, key]);
    const parent = path.slice(0, -1);
    if (entries.length === 0 && path[0] !== 'source') leaves.push({ parent, key: path.at(-1) ?? '' });
  };
  visit(payload, []);
  return leaves;
}

const follow = (value: Json, path: string[]): Json => path.reduce((inner, key) => inner[key] as Json, value);
