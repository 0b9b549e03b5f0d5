import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createMaskers, MASKERS, OURS, survives } from './maskers.ts';

/**
 * Prints how many secrets in other people's examples are masked, as a table by class. The examples are outside the repository,
 * in folders of TSV files. Each line has provider, class, secret and text; secret and text are JSON strings.
 *
 *     node bench/redaction/measure.ts FOLDER… [--show CLASS] [--gitleaks gitleaks.toml] [--secretlint NODE_MODULES]
 *         [--detect-secrets SOURCE]
 *
 * The other tools mask the same texts in the same run. `--show` prints the missed secrets of a class.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    show: { type: 'string' },
    ...MASKERS,
  },
});

interface Example {
  provider: string;
  kind: string;
  secret: string;
  text: string;
}

const maskers = await createMaskers(values);

for (const folder of positionals) await measureFolder(folder);

async function measureFolder(folder: string): Promise<void> {
  const examples = readdirSync(folder)
    .filter((name) => name.endsWith('.tsv'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean).map(readExample));
  const texts = examples.map(({ text }) => text);
  const table: { [kind: string]: { [column: string]: number | string } } = {};
  for (const kind of [...new Set(examples.map((example) => example.kind))].sort()) {
    table[kind] = { examples: examples.filter((example) => example.kind === kind).length };
  }
  table.all = { examples: examples.length };
  for (const [name, mask] of Object.entries(maskers)) {
    const masked = await mask(texts);
    const found = examples.map(({ secret }, index) => !survives(secret, masked[index] ?? ''));
    for (const [kind, row] of Object.entries(table)) {
      const hits = found.filter((hit, index) => hit && (kind === 'all' || examples[index]?.kind === kind)).length;
      row[name] = `${((100 * hits) / Number(row.examples)).toFixed(1)} %`;
    }
    if (name === OURS) showMisses(examples, found);
  }
  console.log(folder);
  console.table(table);
}

function readExample(line: string): Example {
  const [provider = '', kind = '', secret = '""', text = '""'] = line.split('\t');
  return { provider, kind, secret: JSON.parse(secret), text: JSON.parse(text) };
}

function showMisses(examples: Example[], found: boolean[]): void {
  for (const [index, { provider, kind, secret, text }] of examples.entries()) {
    if (kind !== values.show || found[index]) continue;
    const start = Math.max(0, text.indexOf(secret));
    const around = `${text.slice(Math.max(0, start - 60), start)}§${secret.slice(0, 90)}§${text.slice(start + secret.length).slice(0, 10)}`;
    console.log(`${provider}: ${JSON.stringify(around)}`);
  }
}
