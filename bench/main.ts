import { parseArgs } from 'node:util';
import { benchAppendCost, benchAppends, benchAppendsOnBus, benchAppendsOnPostgres } from './append/append.ts';
import { benchReplicas } from './append/replicas.ts';
import { benchDaemon } from './daemon.ts';
import { benchDashboard } from './dashboard/dashboard.ts';
import { benchTasks } from './dashboard/tasks.ts';
import { benchDerive } from './derive.ts';
import { benchEvidence } from './evidence.ts';
import { benchHooks } from './hooks.ts';
import { benchImport } from './import.ts';
import { benchLists } from './lists.ts';
import type { Options } from './options.ts';
import { benchOthers } from './others/others.ts';
import { benchPace } from './pace.ts';
import { benchPages } from './pages.ts';
import { formatTable, type Row } from './report.ts';
import { benchSearch } from './search.ts';
import { benchSearchTiming } from './search-timing.ts';
import { benchService } from './service.ts';
import { benchStart } from './start.ts';
import { benchUpgrade } from './upgrade.ts';
import { benchUsage } from './usage.ts';
import { benchVerify } from './verify.ts';
import { benchWords } from './words.ts';

/** The benches by name: `npm run bench` runs all of them, `npm run bench -- append` runs one. */
const BENCHES: Record<string, (options: Options) => Promise<readonly Row[]>> = {
  append: benchAppends,
  'append-cost': benchAppendCost,
  'append-postgres': benchAppendsOnPostgres,
  'append-bus': benchAppendsOnBus,
  replicas: benchReplicas,
  others: benchOthers,
  pace: benchPace,
  pages: async (options) => [...(await benchPages()), ...(await benchLists(options))],
  search: benchSearch,
  'search-timing': benchSearchTiming,
  usage: benchUsage,
  upgrade: benchUpgrade,
  derive: benchDerive,
  evidence: benchEvidence,
  words: benchWords,
  service: benchService,
  import: benchImport,
  verify: benchVerify,
  hooks: benchHooks,
  start: benchStart,
  daemon: benchDaemon,
  dashboard: benchDashboard,
  tasks: benchTasks,
};

const USAGE = `npm run bench -- [BENCH…] [--seconds 5] [--rounds 3] [--table]
BENCH is one of ${Object.keys(BENCHES).join(', ')}; without a name, all of them run.`;

const OPTIONS = {
  seconds: { type: 'string', default: '5' },
  rounds: { type: 'string', default: '3' },
  table: { type: 'boolean', default: false },
} as const;

function readArguments(): { names: string[]; options: Options } | undefined {
  try {
    const { values, positionals: names } = parseArgs({ options: OPTIONS, allowPositionals: true });
    const options = { seconds: Number(values.seconds), rounds: Number(values.rounds), table: values.table };
    const isKnown = names.every((name) => name in BENCHES);
    return isKnown && options.seconds > 0 && options.rounds >= 1 ? { names, options } : undefined;
  } catch {
    return undefined;
  }
}

const asked = readArguments();
if (!asked) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}
const rows: Row[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.names.length > 0 && !asked.names.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(...(await bench(asked.options)));
}
process.stdout.write(`${formatTable(rows)}\n`);
