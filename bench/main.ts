import { benchAppends } from './append.ts';
import { benchDaemon } from './daemon.ts';
import { benchHooks } from './hooks.ts';
import { benchImport } from './import.ts';
import { benchPages } from './pages.ts';
import { formatTable, type Row } from './report.ts';
import { benchStart } from './start.ts';

/** Each bench by the name it is asked for: `npm run bench` runs all, `npm run bench -- append` one. */
const BENCHES: Record<string, () => Promise<Row[]>> = {
  append: () => benchAppends(),
  pages: benchPages,
  import: benchImport,
  hooks: benchHooks,
  start: benchStart,
  daemon: benchDaemon,
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in BENCHES));
if (unknown.length > 0) {
  process.stderr.write(`There is no bench ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}.\n`);
  process.exit(2);
}
const rows: Row[] = [];
for (const [name, bench] of Object.entries(BENCHES)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(...(await bench()));
}
process.stdout.write(`${formatTable(rows)}\n`);
