import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesOf } from '../store/migrate.ts';
import { LOGS } from './engines.ts';
import { settled } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { startWorld, type World } from './world.ts';

/** What the version before may still ask for, or what it does not give. */
const TAKES_AWAY =
  /\bdrop (table|column)\b|\brename\b|\balter column\b.*\b(type|set not null)\b|\badd column\b(?!.*\bdefault\b).*\bnot null\b/i;

describe.each(LOGS.filter((log) => log !== 'sqlite'))(
  'a replica on %s, while a newer one changes the schema',
  (log) => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld(log);
      const { service, ours } = world;
      // Names of statements are known to its connections, with the columns that they had.
      await request(service, 'appendEvents', RIGHT.appendEvents(world), ours.live);
      await settled(service.store.bus);
      const { db } = service.store;
      for (const { name } of await db.introspection.getTables()) {
        await sql`alter table ${sql.table(name)} add column later text, add column latest integer not null default 0`.execute(
          db,
        );
      }
    });
    afterAll(() => world.service.close());

    test.each(ROUTE_NAMES.filter((route) => route !== 'streamChanges'))('goes on with %s', async (route) => {
      const { service } = world;
      const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world));
      expect(reply.status, reply.text).toBeLessThan(500);
      expect(reply.text).not.toContain('latest');
      await settled(service.store.bus);
      // What was acknowledged would lie where nobody looks.
      expect((await service.store.bus?.backlog())?.deadLetters ?? 0).toBe(0);
    });
  },
);

describe('a schema change', () => {
  test.each(['sqlite', 'postgres'] as const)(
    'that is called additive on %s removes nothing that the version before still asks for',
    (engine) => {
      for (const change of changesOf(engine).filter(({ isAdditive }) => isAdditive)) {
        const statements = 'index' in change ? [] : change.statements;
        expect(
          statements.filter((text) => TAKES_AWAY.test(text)),
          change.name,
        ).toEqual([]);
      }
    },
  );

  test.each([
    'drop table summaries',
    'alter table accounts drop column password',
    'alter table sessions rename title to name',
    'alter table sessions alter column title set not null',
    'alter table sessions add column later text not null',
  ])('that says %s is seen to remove something', (statement) => {
    expect(statement).toMatch(TAKES_AWAY);
  });
});
