import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRedactor } from '../redact/redactor.ts';
import { RULES } from '../redact/rules/all.ts';
import { RULE_EXAMPLES } from '../redact/test/rule-examples.ts';
import type { CapturedEvent } from '../transcript/vocabulary.ts';

/**
 * Measures how fast redaction is over a folder, how often it fires there, and whether its time grows linearly with its input.
 *
 *     node bench/redact.ts <folder> [--extensions jsonl,md] [--megabytes 20]
 *     node bench/redact.ts --firing
 *     node bench/redact.ts --growth
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    extensions: { type: 'string', default: 'jsonl,json,md,js,ts' },
    megabytes: { type: 'string', default: '20' },
    firing: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
  },
});

const redactor = createRedactor({ key: new Uint8Array(32) });
const SUBJECT = { session: 'bench' };
if (values.firing) measureFiring();
if (values.growth) measureGrowth();
for (const folder of positionals) measureFolder(folder, values.extensions.split(','), Number(values.megabytes) * 1e6);

function measureFolder(folder: string, extensions: string[], limit: number): void {
  const texts = readTexts(folder, extensions, limit);
  const events = texts.flatMap(({ path, text }) => toEvents(path, text));
  const bytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  for (const event of events.slice(0, 2000)) redactor.redact([event], SUBJECT);

  const counts: { [rule: string]: number } = {};
  const started = cpuSeconds();
  for (const event of events) {
    const { redactions = {} } = redactor.redact([event], SUBJECT)[0]?.payload ?? {};
    for (const [rule, count] of Object.entries(redactions)) counts[rule] = (counts[rule] ?? 0) + count;
  }
  const seconds = cpuSeconds() - started;
  const fired = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const megabytes = bytes / 1e6;
  console.log(
    `${megabytes.toFixed(1)} MB, ${events.length} events, ${(megabytes / seconds).toFixed(1)} MB/s, ` +
      `${fired} masked (${(fired / megabytes).toFixed(2)} per MB)`,
  );
  console.table(Object.fromEntries(Object.entries(counts).sort(([, one], [, other]) => other - one)));
}

/** Measures prose and code without keywords, then with keywords but no secrets, then with increasingly many secrets. */
function measureFiring(): void {
  const line = 'The quick brown fox jumps over 42 lazy dogs, if (n > 3) return list.map((item) => item + 1);\n';
  const nearly =
    'const token = await getToken(); // password: string, api_key = process.env.API_KEY, sk-… https://a.test\n';
  const hits = Object.values(RULE_EXAMPLES)
    .flatMap(({ hit }) => hit.slice(0, 1))
    .filter((hit) => hit.length < 300);
  const mixed = (every: number) =>
    Array.from({ length: 2 * hits.length * every }, (_, index) =>
      index % every === 0 ? `${hits[(index / every) % hits.length]}\n` : line,
    ).join('');
  const texts = {
    'no keyword': line.repeat(40_000),
    'keywords in every line, no secret': nearly.repeat(40_000),
    'a secret in 100 lines': mixed(100),
    'a secret in 10 lines': mixed(10).repeat(10),
    'a secret in every line': mixed(1).repeat(50),
  };
  for (const [name, text] of Object.entries(texts)) {
    const size = text.length;
    // Pieces with the size of a tool's output.
    const pieces = Array.from({ length: Math.ceil(size / 8192) }, (_, index) =>
      text.slice(index * 8192, (index + 1) * 8192),
    );
    for (const piece of pieces.slice(0, 100)) time(piece);
    const started = cpuSeconds();
    for (const piece of pieces) time(piece);
    const seconds = cpuSeconds() - started;
    console.log(`${name}: ${(size / 1e6).toFixed(1)} MB, ${(size / 1e6 / seconds).toFixed(1)} MB/s`);
  }
}

function readTexts(folder: string, extensions: string[], limit: number): { path: string; text: string }[] {
  const texts: { path: string; text: string }[] = [];
  let bytes = 0;
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    if (!extensions.includes(extname(name).slice(1)) || !statSync(path).isFile()) continue;
    const text = readFileSync(path, 'utf8');
    texts.push({ path: name, text });
    bytes += text.length;
    if (bytes >= limit) break;
  }
  return texts;
}

/** The records of a transcript as records of unknown kinds; any other file as the output of a tool. */
function toEvents(file: string, text: string): CapturedEvent[] {
  const source = { agent: 'bench', session: 'bench', file, position: 0 };
  if (!file.endsWith('.jsonl')) return [{ eventType: 'tool.result', payload: { source, output: text } }];
  return text.split('\n').flatMap((line): CapturedEvent[] => {
    try {
      return [{ eventType: 'record', payload: { source, rest: JSON.parse(line) } }];
    } catch {
      return [];
    }
  });
}

/** Repeats truncated examples of each rule at two sizes: twice the input may take about twice the time. */
function measureGrowth(): void {
  const starts = RULES.flatMap(({ id, keywords }) => [
    ...keywords.map((keyword): [string, string] => [id, keyword]),
    ...(RULE_EXAMPLES[id]?.hit ?? []).flatMap((hit): [string, string][] => [
      [id, hit.slice(0, -1)],
      [id, `${hit.slice(0, hit.length / 2)} `],
    ]),
  ]);
  let worst = { id: '', seconds: 0, ratio: 0 };
  for (const [id, start] of starts) {
    const [half = 0, full = 0] = [5e5, 1e6].map((size) => time(start.repeat(Math.ceil(size / start.length))));
    if (full > worst.seconds) worst = { id, seconds: full, ratio: full / half };
    if (full > 0.5 || full / half > 4)
      console.log(
        `${id} (${JSON.stringify(start.slice(0, 24))}): 1 MB in ${full.toFixed(3)} s, ${(full / half).toFixed(1)} × 0.5 MB`,
      );
  }
  console.log(
    `${starts.length} inputs of 1 MB; slowest ${worst.id}: ${worst.seconds.toFixed(3)} s, ${worst.ratio.toFixed(1)} × 0.5 MB`,
  );
}

function time(output: string): number {
  const source = { agent: 'bench', session: 'bench', file: 'growth', position: 0 };
  const started = cpuSeconds();
  redactor.redact([{ eventType: 'tool.result', payload: { source, output } }], SUBJECT);
  return cpuSeconds() - started;
}

/** Processor time of this process, which other programs on the machine do not affect. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
