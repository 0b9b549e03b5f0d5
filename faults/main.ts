import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SEED } from '../contract/test/runs.ts';
import { createRandom } from '../server/test/seed.ts';
import { installBus } from './modes/bus.ts';
import { installPostgres } from './modes/postgres.ts';
import { runSpool } from './modes/spool.ts';
import { installSqlite } from './modes/sqlite.ts';
import { type Installation, type Recovery, type RoundsOptions, runAndStop } from './rounds.ts';

const on = (install: (random: () => number) => Promise<Installation>) => async (options: RoundsOptions) =>
  runAndStop(await install(options.random), options);
const MODES = {
  sqlite: on(() => installSqlite()),
  postgres: on(installPostgres),
  bus: on(installBus),
  spool: runSpool,
};

/** The worst times of each kind of fault, in milliseconds. */
const worstOf = ({ appends, readable, longestAnswer }: Recovery) => ({
  rounds: appends.length,
  'appends taken': Math.round(Math.max(...appends)),
  'all readable': Math.round(Math.max(...readable)),
  'longest answer': Math.round(Math.max(...longestAnswer)),
});

const USAGE = `npm run faults -- MODE… [--rounds 500] [--minutes 600] [--only 'power'] [--hold 0] [--folder artefacts/faults]
MODE is one of ${Object.keys(MODES).join(', ')}; --only selects faults by a part of their name;
--hold is how many milliseconds each fault lasts at least.`;

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '500' },
    minutes: { type: 'string', default: '600' },
    only: { type: 'string', default: '' },
    hold: { type: 'string', default: '0' },
    folder: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
  allowPositionals: true,
});
if (values.help || positionals.length === 0 || !positionals.every((mode) => Object.hasOwn(MODES, mode))) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const random = createRandom(SEED);
for (const mode of positionals as (keyof typeof MODES)[]) {
  const folder = join(values.folder ?? 'artefacts/faults', mode);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const outcome = await MODES[mode]({
    rounds: Number(values.rounds),
    until: performance.now() + Number(values.minutes) * 60_000,
    random,
    only: values.only,
    hold: Number(values.hold),
    folder,
    tell: (text) => console.log(`${new Date().toISOString()} ${mode}: ${text}`),
  });
  writeFileSync(join(folder, 'outcome.json'), JSON.stringify(outcome, null, 2));
  const { recovery = {}, ...rest } = outcome;
  console.log({ ...rest, faults: outcome.faults.length });
  if (outcome.appends === 0) console.error(`${mode}: no append was judged`);
  if (outcome.appends === 0 || outcome.faults.length > 0) process.exitCode = 1;
  console.table(Object.fromEntries(Object.entries(recovery).map(([kind, times]) => [kind, worstOf(times)])));
}
