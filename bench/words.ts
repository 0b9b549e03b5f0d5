import { setTimeout as wait } from 'node:timers/promises';
import { RowWords } from '../server/search/row-words.ts';
import { collectWords } from '../server/search/words.ts';
import { openStore } from '../server/store/open.ts';
import { Signature } from '../server/store/signature.ts';
import { type OpenFile, openFile } from '../server/store/sqlite/open-file.ts';
import { withFolder } from './process.ts';
import { quantile, type Row } from './report.ts';
import { createEvents } from './text.ts';

/** The number of written chunks, each with 64 events of 1 KiB. */
const CHUNKS = Number(process.env.BENCH_CHUNKS ?? 1_500);
const EVENTS = 64;
/** Pause between two writes, as when sessions are derived one after the other. */
const PAUSE_MS = 5;

const WAYS = {
  'between writes': "insert into chunk_words (chunk_words, rank) values ('automerge', 0), ('crisismerge', 64)",
  'by SQLite within writes': "insert into chunk_words (chunk_words, rank) values ('automerge', 4), ('crisismerge', 16)",
};

/** Measures how long an append waits behind a write to the index of words, with each way to merge the index's segments. */
export async function benchWords(): Promise<Row[]> {
  const chunks = createChunks();
  const rows: Row[] = [];
  for (const [way, configuration] of Object.entries(WAYS)) {
    const { waits, cpu, segments } = await withFolder((folder) => writeAll(folder, configuration, chunks));
    const tell = `p50 ${quantile(waits, 0.5).toFixed(1)}, longest ${Math.max(...waits).toFixed(0)} ms`;
    rows.push({
      what: `wait behind a chunk of words, merged ${way}, p99`,
      figure: quantile(waits, 0.99),
      unit: 'ms',
      goal: '',
      detail: `${tell}; ${Math.round(cpu)} µs of CPU a chunk; ${segments} segments at the end of ${CHUNKS} chunks`,
    });
  }
  return rows;
}

function createChunks(): string[] {
  const event = createEvents(1);
  return Array.from({ length: CHUNKS }, () => {
    const words = new RowWords();
    const signature = new Signature();
    for (let n = 0; n < EVENTS; n++) {
      const { eventType, payload } = event(1024);
      collectWords(eventType, payload, words, signature);
    }
    return words
      .takeFresh()
      .map((word) => `abcd${word}`)
      .join(' ');
  });
}

async function writeAll(dataDir: string, configuration: string, chunks: readonly string[]) {
  await (await openStore({ dataDir, onError: console.error })).close();
  const file = await openFile(`${dataDir}/session-capture.sqlite`, console.error);
  try {
    await ask(file, configuration);
    const waits: number[] = [];
    const before = process.cpuUsage();
    for (const [at, words] of chunks.entries()) {
      const sql = 'insert into chunk_words (rowid, words) values (?, ?)';
      const written = file.writer.run({ kind: 'derived', statements: [{ sql, parameters: [at + 1, words] }] });
      const begun = performance.now();
      await ask(file, 'select 1');
      waits.push(performance.now() - begun);
      await written;
      await wait(PAUSE_MS);
    }
    const { user, system } = process.cpuUsage(before);
    const [row] = (await ask(file, 'select count(distinct segid) as segments from chunk_words_idx')).rows;
    return { waits, cpu: (user + system) / chunks.length, ...(row as { segments: number }) };
  } finally {
    await file.close();
  }
}

const ask = (file: OpenFile, sql: string) => file.writer.run({ kind: 'query', sql, parameters: [] });
