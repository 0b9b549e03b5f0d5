import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startNatsServer } from '../../test/nats.ts';
import type { Options } from '../options.ts';
import { createDatabase, startPostgres } from '../postgres.ts';
import { withFolder } from '../process.ts';
import { median, type Row } from '../report.ts';
import { type Disk, slowDisk, syncTime, THIS_DISK } from './disk.ts';
import { CONNECTIONS, type Load, loadService, type Rate } from './measure.ts';

const BARE_LOOP = fileURLToPath(new URL('./bare-loop.ts', import.meta.url));
const BARE_POSTGRES = fileURLToPath(new URL('./bare-postgres.ts', import.meta.url));

const BARE_HTTP_BUS = fileURLToPath(new URL('./bare-http-bus.ts', import.meta.url));
const BARE_BUS = fileURLToPath(new URL('./bare-bus.ts', import.meta.url));

const SIZES = [50, 1];
const ENCODINGS = ['plain', 'zstd'] as const;

/** Compares appends with the bare loop in alternating rounds, on this disk and on a slower one. A ratio is the rounds' median. */
export function benchAppends(options: Options): Promise<Row[]> {
  return withFolder(async (folder) => {
    const slow = slowDisk(folder);
    const rows: Row[] = [];
    for (const disk of slow ? [THIS_DISK, slow] : [THIS_DISK]) {
      rows.push(syncRow(folder, disk));
      for (const batchSize of SIZES) rows.push(...(await compare(disk, batchSize, options)));
    }
    return slow ? rows : [...rows, withoutCompiler];
  });
}

const syncRow = (folder: string, disk: Disk): Row => ({
  what: `fdatasync of 4 KiB, ${disk.name}`,
  figure: syncTime(folder, disk),
  unit: 'ms',
  goal: '',
  detail: 'p50 of 301, in the folder of the bench',
});

const withoutCompiler: Row = {
  what: 'the same with a slower fsync',
  figure: Number.NaN,
  unit: '',
  goal: '',
  detail: 'not measured: there is no C compiler `cc` to make fsync slower',
};

async function compare(disk: Disk, batchSize: number, { seconds, rounds }: Options): Promise<Row[]> {
  const bare: number[] = [];
  const rates = { plain: [] as Rate[], zstd: [] as Rate[] };
  for (let round = 0; round < rounds; round++) {
    bare.push(await withFolder(async (folder) => runBare([BARE_LOOP, folder, String(batchSize)], seconds, disk.env)));
    for (const encoding of ENCODINGS) {
      const load = { batchSize, encoding, seconds };
      rates[encoding].push(await withFolder((dataDir) => loadService({ dataDir }, load, disk.env)));
    }
  }
  const what = `${batchSize} × 1 KiB`;
  const plain = rates.plain.map(({ rate }) => rate);
  return [
    ...ENCODINGS.map((encoding) =>
      ratioRow(`${what}, ${encoding} ÷ bare loop, ${disk.name}`, rates[encoding], bare, '≥ 1.5'),
    ),
    ratioRow(`${what}, zstd ÷ plain, ${disk.name}`, rates.zstd, plain, '≥ 1'),
    await halfRow(`${what}, ${disk.name}`, rates.zstd, { batchSize, encoding: 'zstd', seconds }, (load) =>
      withFolder((dataDir) => loadService({ dataDir }, load, disk.env)),
    ),
  ];
}

/** The appends a second that the processors sustain with all that follows an append. A short burst is faster, because it puts off deriving. */
const sustained = ({ rate, service, generator, engine }: Rate): number =>
  Math.min(rate, (availableParallelism() * 1e6) / (service + generator + engine));

/** Measures the time of an append at half of the sustained rate. */
async function halfRow(
  what: string,
  rates: readonly Rate[],
  load: Load,
  run: (load: Load) => Promise<Rate>,
): Promise<Row> {
  const half = median(rates.map(sustained)) / 2;
  const { rate, p50, p99, service } = await run({ ...load, rate: half });
  const detail = `p50 ${p50.toFixed(1)} ms; ${Math.round(rate)}/s, CPU ${Math.round(service)} µs`;
  return { what: `${what}, p99 at half load`, figure: p99, unit: 'ms', goal: '', detail };
}

/** Measures only the processor time, with zstd on SQLite on this disk; `BENCH_BATCH=1` measures only appends of one event. */
export async function benchAppendCost({ seconds, rounds }: Options): Promise<Row[]> {
  const sizes = process.env.BENCH_BATCH === undefined ? SIZES : [Number(process.env.BENCH_BATCH)];
  const rows: Row[] = [];
  for (const batchSize of sizes) {
    const rates: Rate[] = [];
    for (let round = 0; round < rounds; round++) {
      rates.push(
        await withFolder((dataDir) =>
          loadService({ dataDir }, { batchSize, isMixed: true, encoding: 'zstd', seconds }),
        ),
      );
    }
    const all = (pick: (rate: Rate) => number) => rates.map((rate) => Math.round(pick(rate))).join(', ');
    const kibibytes = (rates[0]?.bytes ?? Number.NaN) / 1024;
    rows.push({
      what: `appends of ${batchSize} mixed events (${kibibytes.toFixed(1)} KiB), processor time until all is derived`,
      figure: median(rates.map(({ service }) => service / kibibytes)),
      unit: 'µs a KiB',
      goal: batchSize === 1 ? '' : '≤ 45',
      detail: `${all(({ service }) => service)} µs an append; the deriving thread ${all(({ deriving }) => deriving)}; ${all(({ rate }) => rate)}/s`,
    });
  }
  return rows;
}

function runBare(args: readonly string[], seconds: number, env: Record<string, string> = {}): number {
  const options = { encoding: 'utf8', env: { PATH: process.env.PATH ?? '', ...env } } as const;
  return Number.parseFloat(execFileSync(process.execPath, [...args, String(seconds)], options));
}

/** Compares the service on PostgreSQL with one statement for each append over as many connections, in alternating rounds. */
export async function benchAppendsOnPostgres({ seconds, rounds }: Options): Promise<Row[]> {
  const postgres = await startPostgres();
  try {
    const rows: Row[] = [];
    for (const batchSize of SIZES) {
      const bare: number[] = [];
      const rates: Rate[] = [];
      for (let round = 0; round < rounds; round++) {
        await withFolder(async (dataDir) => {
          const bareUrl = await createDatabase(postgres.url);
          const args = [BARE_POSTGRES, bareUrl, String(batchSize), String(CONNECTIONS)];
          bare.push(runBare(args, seconds));
          const where = { dataDir, databaseUrl: await createDatabase(postgres.url) };
          // The same encoding as the command line's.
          rates.push(await loadService(where, { batchSize, encoding: 'zstd', seconds }));
        });
      }
      const what = `${batchSize} × 1 KiB on PostgreSQL`;
      rows.push(ratioRow(`${what} ÷ bare statement`, rates, bare, '≥ 0.7'));
      const calm = async (load: Load) =>
        withFolder(async (dataDir) => loadService({ dataDir, databaseUrl: await createDatabase(postgres.url) }, load));
      rows.push(await halfRow(what, rates, { batchSize, encoding: 'zstd', seconds }, calm));
    }
    return rows;
  } finally {
    await postgres.stop();
  }
}

/**
 * Compares a replica on an event bus, without and with a worker in the same process, with two baselines in alternating rounds:
 * publishing alone, without HTTP requests, and a minimal HTTP server that publishes each body.
 */
export async function benchAppendsOnBus({ seconds, rounds }: Options): Promise<Row[]> {
  const [postgres, nats] = [await startPostgres(), await startNatsServer()];
  try {
    const rows: Row[] = [];
    for (const batchSize of SIZES) {
      const bare: number[] = [];
      const rates = { api: [] as Rate[], all: [] as Rate[], http: [] as Rate[] };
      for (let round = 0; round < rounds; round++) {
        bare.push(runBare([BARE_BUS, nats.url, String(batchSize), String(CONNECTIONS)], seconds));
        for (const way of ['http', 'api', 'all'] as const) {
          await withFolder(async (dataDir) => {
            const where = { dataDir, databaseUrl: await createDatabase(postgres.url) };
            // The same encoding as the command line's, so that the minimal server publishes as many bytes.
            const load = { batchSize, encoding: 'zstd', seconds } as const;
            const env = { BUS_URL: nats.url, ROLE: way };
            rates[way].push(await loadService(where, load, env, way === 'http' ? BARE_HTTP_BUS : undefined));
          });
        }
      }
      const what = `${batchSize} × 1 KiB on a bus`;
      const http = rates.http.map(({ rate }) => rate);
      rows.push(ratioRow(`${what} ÷ least HTTP server that publishes`, rates.api, http, '≥ 0.7'));
      rows.push(ratioRow(`least HTTP server, ${batchSize} × 1 KiB ÷ bare publish`, rates.http, bare, ''));
      rows.push(ratioRow(`${what} ÷ bare publish`, rates.api, bare, '≥ 0.7'));
      rows.push(ratioRow(`${what} ÷ bare publish, worker in the same process`, rates.all, bare, ''));
      const calm = (load: Load) =>
        withFolder(async (dataDir) => {
          const where = { dataDir, databaseUrl: await createDatabase(postgres.url) };
          return loadService(where, load, { BUS_URL: nats.url, ROLE: 'api' });
        });
      rows.push(await halfRow(what, rates.api, { batchSize, encoding: 'zstd', seconds }, calm));
    }
    return rows;
  } finally {
    await postgres.stop();
    await nats.dispose();
  }
}

function ratioRow(what: string, rates: readonly Rate[], others: readonly number[], goal: string): Row {
  const ratios = rates.map(({ rate }, round) => rate / (others[round] ?? Number.NaN));
  const middle = (pick: (rate: Rate) => number) => Math.round(median(rates.map(pick))).toLocaleString('en');
  const against = Math.round(median(others)).toLocaleString('en');
  const cpu = `CPU ${middle(({ service }) => service)} µs, ${middle(({ deriving }) => deriving)} of them deriving; generator's ${middle(({ generator }) => generator)} µs, engine's ${middle(({ engine }) => engine)} µs`;
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  const detail = `${middle(({ rate }) => rate)}/s against ${against}/s; ${spread}; ${cpu}`;
  return { what, figure: median(ratios), unit: '×', goal, detail };
}
