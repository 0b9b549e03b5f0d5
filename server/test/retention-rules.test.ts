import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type RetentionBounds,
  type RetentionField,
  type RetentionRule,
  termsOf,
  wrongWith,
} from '../../contract/retention.ts';
import { runs } from '../../contract/test/runs.ts';
import { countDue, DAY_MS, type DueSession, endOfSlice, listDue, type Slice } from '../erase/due-sessions.ts';
import { ENGINES } from './engines.ts';
import { openSession } from './factories.ts';
import { startWorld, type World } from './world.ts';

const REPOSITORIES = ['h.test/own/one', 'h.test/own/two'];
const MOST = 40;
const days = fc.option(fc.option(fc.integer({ min: 1, max: MOST }), { nil: null }), { nil: undefined });
const TARGETS: RetentionRule['target'][] = [
  { kind: 'organization' },
  { kind: 'plane', id: 'live' },
  { kind: 'plane', id: 'test' },
  // Rules have the spelling of their author, and sessions have their own.
  ...REPOSITORIES.map((id) => ({ kind: 'repository' as const, id: id.replace('own', 'OWN') })),
];
const said = ({
  contentDays,
  factsDays,
}: {
  contentDays: number | null | undefined;
  factsDays: number | null | undefined;
}) => ({
  ...(contentDays !== undefined && { contentDays }),
  ...(factsDays !== undefined && { factsDays }),
});
const rules = fc
  .uniqueArray(fc.record({ at: fc.nat({ max: TARGETS.length - 1 }), contentDays: days, factsDays: days }), {
    selector: ({ at }) => at,
  })
  .map((all) =>
    all.map(({ at, ...rest }) => ({ target: TARGETS[at] ?? { kind: 'organization' as const }, ...said(rest) })),
  );
const bound = fc.option(fc.integer({ min: 1, max: MOST }), { nil: undefined });
const bounds = fc.record({ defaultDays: bound, minDays: bound, maxDays: bound }).map(
  ({ defaultDays, minDays, maxDays }): RetentionBounds => ({
    ...(defaultDays !== undefined && { defaultDays }),
    ...(minDays !== undefined && { minDays: Math.min(minDays, maxDays ?? minDays) }),
    ...(maxDays !== undefined && { maxDays }),
  }),
);

interface Session {
  sessionId: string;
  age: number;
  repository: string | null;
  plane: 'live' | 'test';
}

describe.each(ENGINES)('retention rules on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  test('select exactly the sessions that expire when the rules are read one by one', async () => {
    const { service, ours } = world;
    const { db } = service.store;
    const sessions: Session[] = [];
    for (const [at, age] of [3, 9, 14, 22, 31, 38].entries()) {
      const sessionId = await openSession(service, ours.live, ours);
      const repository = REPOSITORIES[at % 3] ?? null;
      const when = service.clock.now - age * DAY_MS - 1;
      const set = {
        repository: repository?.replace('own', 'Own') ?? null,
        created_at: when,
        updated_at: when,
        plane: at % 2 ? ('test' as const) : ('live' as const),
      };
      await db.updateTable('sessions').set(set).where('session_id', '=', sessionId).execute();
      sessions.push({ sessionId, age, repository, plane: set.plane });
    }
    await fc.assert(
      fc.asyncProperty(
        rules,
        bounds,
        fc.constantFrom<RetentionField>('contentDays', 'factsDays'),
        async (given, allowed, field) => {
          const due = {
            organizationId: ours.organizationId,
            rules: given,
            bounds: allowed,
            field,
            now: service.clock.now,
          };
          const found: DueSession[] = [];
          let slice: Slice = {};
          do {
            slice = { after: slice.through, through: await endOfSlice(db, due, slice.through, 2) };
            found.push(...(await listDue(db, due, slice)));
          } while (slice.through);
          const expected = sessions.filter((session) => session.age >= lastDay(given, allowed, field, session));
          expect(found.map(({ sessionId }) => sessionId).sort()).toEqual(
            expected.map(({ sessionId }) => sessionId).sort(),
          );
          expect(await countDue(db, due)).toEqual({ due: expected.length, held: 0 });
        },
      ),
      runs(40),
    );
  });
});

/**
 * The model: the first rule that says something, within the bounds. Content that expires with its session is no separate work.
 */
function lastDay(
  given: RetentionRule[],
  allowed: RetentionBounds,
  field: RetentionField,
  { plane, repository }: Session,
) {
  const wanted = [`repository ${repository}`, `plane ${plane}`, 'organization undefined'];
  const [rule] = wanted.flatMap((name) =>
    given.filter(
      ({ target, [field]: told }) => told !== undefined && `${target.kind} ${target.id?.toLowerCase()}` === name,
    ),
  );
  const isFacts = field === 'factsDays';
  const told = rule ? rule[field] : isFacts ? allowed.defaultDays : undefined;
  const never = isFacts ? (allowed.maxDays ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
  if (told === undefined || told === null) return never;
  return Math.min(Math.max(told, allowed.minDays ?? 0), allowed.maxDays ?? Number.POSITIVE_INFINITY);
}

test('content never outlives the facts, with any rules and bounds', () => {
  const session = fc.record({
    plane: fc.constantFrom('live' as const, 'test' as const),
    repository: fc.constantFrom(...REPOSITORIES, null),
  });
  fc.assert(
    fc.property(rules, bounds, session, (given, allowed, of) => {
      const { contentDays, factsDays } = termsOf(given, allowed, of);
      if (factsDays) expect(contentDays?.days).toBeLessThanOrEqual(factsDays.days);
    }),
    runs(500),
  );
});

test('a rule for a repository applies to its sessions in any case of letters', () => {
  const rule = { target: { kind: 'repository' as const, id: 'h.test/Own/one' }, contentDays: 7 };
  expect(termsOf([rule], {}, { plane: 'live', repository: 'h.test/own/One' }).contentDays?.days).toBe(7);
  expect(termsOf([rule], {}, { plane: 'live', repository: 'h.test/own/two' }).contentDays).toBeUndefined();
});

test('a rule outside the bounds is refused, and the message names the bound', () => {
  const rule = (contentDays: number) => [{ target: { kind: 'organization' as const }, contentDays }];
  expect(wrongWith(rule(9), { minDays: 10 })).toMatch(/at least 10: .*RETENTION_MIN_DAYS/);
  expect(wrongWith(rule(21), { maxDays: 20 })).toMatch(/at most 20: .*RETENTION_MAX_DAYS/);
  expect(wrongWith(rule(15), { minDays: 10, maxDays: 20 })).toBeUndefined();
});
