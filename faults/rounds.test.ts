import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, inject, test } from 'vitest';
import { patience, seeded, times } from '../contract/test/runs.ts';
import { createRandom } from '../server/test/seed.ts';
import { installBus } from './modes/bus.ts';
import { installPostgres } from './modes/postgres.ts';
import { runSpool } from './modes/spool.ts';
import { installSqlite } from './modes/sqlite.ts';
import { type Installation, type Outcome, runRounds } from './rounds.ts';

const ROUNDS = times(3);
/** The short form: what else is broken takes minutes of a slow machine, and is broken by `npm run faults`. */
const KILLS = 'killed';
const PATIENCE = patience(300_000);
/** Three nodes, two replicas and two workers are killed and start again, which takes minutes where others use the processors as well. */
const LONG_PATIENCE = patience(600_000);

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
function optionsOf(rounds: number) {
  const folder = mkdtempSync(join(tmpdir(), 'capture-histories-'));
  folders.push(folder);
  return { rounds, random: createRandom(), folder };
}

async function play(installation: Installation, only = '', rounds = ROUNDS): Promise<Outcome> {
  try {
    return await runRounds(installation, { ...optionsOf(rounds), only });
  } finally {
    await installation.stop();
  }
}

function expectNothingWrong({ faults, events, rounds }: Outcome) {
  expect(faults).toEqual([]);
  expect(rounds).toBe(ROUNDS);
  expect(events).toBeGreaterThan(1_000);
}

describe(`whatever is killed, cut, full or slow, every acknowledged event is there once, at its number ${seeded}`, () => {
  test('in the embedded store', async () => expectNothingWrong(await play(await installSqlite(), KILLS)), PATIENCE);

  test('in PostgreSQL', async () => expectNothingWrong(await play(await installPostgres(), KILLS)), PATIENCE);

  test.runIf(inject('natsUrl'))(
    'in PostgreSQL behind a bus of three nodes',
    async () => expectNothingWrong(await play(await installBus(createRandom()), KILLS)),
    LONG_PATIENCE,
  );

  test(
    'in the spool of a machine',
    async () => expectNothingWrong(await runSpool({ ...optionsOf(ROUNDS), only: KILLS })),
    PATIENCE,
  );
});

/** What the rounds above would overlook, they would overlook in a service that is wrong, too. */
describe(`the same rounds find a fault ${seeded}`, () => {
  const rulesOf = ({ faults }: Outcome) => [...new Set(faults.map(({ rule }) => rule))];

  test(
    'where the service hears nothing of the key under which an append is repeated',
    async () => {
      const key = Buffer.from('idempotency-key');
      const withoutKeys = await installSqlite((asked) => {
        const at = asked.indexOf(key);
        return at < 0 ? asked : Buffer.concat([asked.subarray(0, at), Buffer.from('x'), asked.subarray(at + 1)]);
      });
      expect(rulesOf(await play(withoutKeys, 'answers', 1))).toEqual(expect.arrayContaining(['doubled', 'changed']));
    },
    PATIENCE,
  );
});
