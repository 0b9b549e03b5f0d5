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
import { type Installation, type Outcome, runAndStop } from './rounds.ts';

const ROUNDS = times(3);
/** Only kills, because the other faults take minutes on a slow machine; `npm run faults` covers them. */
const KILLS = 'killed';
const PATIENCE = patience(300_000);
/** Killing and restarting three nodes, two replicas and two workers takes minutes on a busy machine. */
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

const play = (installation: Installation, only = '', rounds = ROUNDS): Promise<Outcome> =>
  runAndStop(installation, { ...optionsOf(rounds), only });

function expectNothingWrong({ faults, events, rounds }: Outcome) {
  expect(faults).toEqual([]);
  expect(rounds).toBe(ROUNDS);
  expect(events).toBeGreaterThan(1_000);
}

describe(`every acknowledged event is stored once at its number after kills ${seeded}`, () => {
  test(
    'of the service with the embedded store',
    async () => expectNothingWrong(await play(await installSqlite(), KILLS)),
    PATIENCE,
  );

  test(
    'of the service and PostgreSQL',
    async () => expectNothingWrong(await play(await installPostgres(), KILLS)),
    PATIENCE,
  );

  test.runIf(inject('natsUrl'))(
    'of the service, PostgreSQL and a bus of three nodes',
    async () => expectNothingWrong(await play(await installBus(createRandom()), KILLS)),
    LONG_PATIENCE,
  );

  test(
    "of capture with a machine's spool",
    async () => expectNothingWrong(await runSpool({ ...optionsOf(ROUNDS), only: KILLS })),
    PATIENCE,
  );
});

/** Proves that the rounds above can fail: a broken service must not pass them. */
describe(`the same rounds report a broken service ${seeded}`, () => {
  const rulesOf = ({ faults }: Outcome) => [...new Set(faults.map(({ rule }) => rule))];

  test(
    'that never receives the idempotency key of a repeated append',
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
