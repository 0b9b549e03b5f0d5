import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changesOf } from '../store/migrate.ts';
import { LOGS } from './engines.ts';
import { settled } from './harness.ts';
import { RIGHT, RIGHT_CALLER, ROUTE_NAMES, request, TABLE } from './requests.ts';
import { startWorld, type World } from './world.ts';

/** Changes that remove something that the previous version still reads, or that require something that it does not write. */
const TAKES_AWAY =
  /\bdrop (table|column)\b|\brename\b|\balter column\b.*\b(type|set not null)\b|\badd column\b(?!.*\bdefault\b).*\bnot null\b/i;

describe.each(LOGS.filter((log) => log !== 'sqlite'))(
  'a replica on %s during a schema change of a newer one',
  (log) => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld(log);
      const { service, ours } = world;
      // Its connections have cached statements by name, with the columns of that time.
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

    test.each(ROUTE_NAMES.filter((route) => route !== 'streamChanges'))('continues with %s', async (route) => {
      const { service } = world;
      const reply = await request(service, route, RIGHT[route](world), RIGHT_CALLER[TABLE[route].auth](world));
      expect(reply.status, reply.text).toBeLessThan(500);
      expect(reply.text).not.toContain('latest');
      await settled(service.store.bus);
      // Acknowledged events would end up in a store that no process reads.
      expect((await service.store.bus?.backlog())?.deadLetters ?? 0).toBe(0);
    });
  },
);

describe('a schema change', () => {
  test.each(['sqlite', 'postgres'] as const)(
    'marked as additive on %s removes nothing that the previous version still needs',
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
  ])('"%s" counts as removing something', (statement) => {
    expect(statement).toMatch(TAKES_AWAY);
  });
});
