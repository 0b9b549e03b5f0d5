import { setImmediate } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import { RowWords } from '../server/search/row-words.ts';
import { addWords } from '../server/search/words.ts';
import type { Store } from '../server/store/open.ts';
import { Signature } from '../server/store/signature.ts';
import { startIssuer } from '../test/issuer.ts';
import { createDeriver } from './deriver.ts';
import { onBothEngines } from './postgres.ts';
import { startMeasured, type Where } from './process.ts';
import { median, quantile, type Row } from './report.ts';
import { createCorpus, identifierOf, pathOf } from './search-corpus.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';

/** Set `BENCH_EVENTS=100000` for a quick look. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 1_000_000);
const MAX_SESSION = Math.min(50_000, EVENTS / 10);
const SESSION = 200;
/** Copies of each session, derived once. The lists of the index are as long as if all sessions were different. */
const ALIKE = 10;
const SAMPLES = 40;
const OWNER = 'reader';

/** Measures search over sessions and within one, on both engines; p95 of requests for different words. */
export const benchSearch = (): Promise<Row[]> => onBothEngines(measure);

async function measure(engine: string, where: Where): Promise<Row[]> {
  const issuer = await startIssuer();
  const made = await seed(where, issuer.url, OWNER, fill);
  const service = await startMeasured(where, issuer.env);
  try {
    const headers = { authorization: `Bearer ${await issuer.token(OWNER, `${OWNER}@example.com`)}` };
    const rows: Row[] = [];
    const over = `${service.url}/v1/organizations/me/search?limit=20&q=`;
    const inside = `${service.url}/v1/organizations/me/sessions/${made.largest}/find?q=`;
    const queries = queriesOf(made.occurring);
    for (const [kind, query] of Object.entries(queries))
      rows.push(await sample(kind, over, query, headers, service.cpuSeconds));
    for (const kind of ['rare word', 'common word', 'phrase'] as const) {
      const what = `${kind} in a session of ${MAX_SESSION}`;
      rows.push(await sample(what, inside, queries[kind], headers, service.cpuSeconds));
    }
    const named = rows.map((row) => ({
      ...row,
      what: `search of ${EVENTS.toLocaleString('en')} events, ${engine}: ${row.what}`,
    }));
    return [
      ...named,
      {
        what: `index of words, ${engine}`,
        figure: made.indexBytes / made.textBytes,
        unit: '×',
        goal: '–',
        detail: made.detail,
      },
    ];
  } finally {
    await service.stop();
    issuer.close();
  }
}

/** Words and phrases in the events, rarest first. */
interface Occurring {
  identifiers: string[];
  paths: string[];
  han: string[];
  phrases: string[];
}

/** Queries that differ in each request. All find something, except those named so. */
const queriesOf = ({ identifiers, paths, han, phrases }: Occurring) => ({
  'rare word': (n: number) => at(identifiers, n).toLowerCase(),
  'common word': (n: number) => at(COMMON, n),
  'two words': (n: number) => `${identifierOf(200 + n)} ${at(['error', 'return', 'options'], n)}`,
  phrase: (n: number) => at(['"if the"', '"return this"', '"such as"', '"in the"'], n),
  'rare phrase': (n: number) => `"${at(phrases, n)}"`,
  'phrase of common words that nobody wrote': (n: number) => at(['"not a phrase"', '"the return import"'], n),
  prefix: (n: number) => `${at(['parse', 'render', 'resol', 'conf'], n)}*`,
  'part of an identifier': (n: number) => `For${at(identifiers, n).split('For')[1]}`,
  path: (n: number) => at(paths, n * 7),
  Chinese: (n: number) => at(han, n * 3),
  'word and filter': (n: number) => `${at(['return', 'value'], n)} tool:Edit file:${pathOf(20 + n).split('/')[2]}`,
  'no words, tool:Edit': () => 'tool:Edit',
  'word that nobody has': (n: number) => `nobodyhas${n}`,
});

const COMMON = ['return', 'function', 'the', 'import', 'string', 'value', 'user', 'queue'];
const at = (all: readonly string[], n: number): string => all[n % all.length] ?? '';

/** Finds words and phrases in the texts, rarest first. */
function occurringIn(texts: readonly string[]): Occurring {
  const byRarity = (pattern: RegExp) => {
    const counts = new Map<string, number>();
    for (const text of texts) for (const [one] of text.matchAll(pattern)) counts.set(one, (counts.get(one) ?? 0) + 1);
    return [...counts].sort((one, other) => one[1] - other[1]).map(([text]) => text);
  };
  return {
    identifiers: byRarity(/\b[a-z]+[A-Z][a-z]+For[A-Z]\w+/g),
    paths: byRarity(/\bsrc\/\w+\/\w+\.ts\b/g),
    han: byRarity(/\p{sc=Han}{4}/gu),
    phrases: byRarity(/\b[a-z]{4,9} [a-z]{4,9} [a-z]{4,9}\b/g),
  };
}

async function sample(
  what: string,
  url: string,
  query: (n: number) => string,
  headers: Record<string, string>,
  cpuSeconds: () => number,
): Promise<Row> {
  const times: number[] = [];
  const before = cpuSeconds();
  let found = 0;
  for (let n = 0; n < SAMPLES; n++) {
    const started = performance.now();
    const reply = await fetch(url + encodeURIComponent(query(n)), { headers });
    const body = (await reply.json()) as { sessions?: unknown[]; hits?: unknown[] };
    if (reply.status !== 200) throw new Error(`${query(n)} answered ${reply.status}: ${JSON.stringify(body)}`);
    times.push(performance.now() - started);
    found += (body.sessions ?? body.hits ?? []).length;
  }
  const detail = `p50 ${median(times).toFixed(1)} ms, longest ${Math.max(...times).toFixed(1)} ms, processor of the service ${(((cpuSeconds() - before) / SAMPLES) * 1000).toFixed(0)} ms; ${(found / SAMPLES).toFixed(1)} found each, such as ${query(1)}`;
  if (found === 0 && !/nobody/.test(what)) throw new Error(`${what}: nothing was found, ${detail}`);
  return { what, figure: quantile(times, 0.95), unit: 'ms', goal: '≤ 100', detail };
}

/** Adds one long session and many of 200 events, and derives them. */
async function fill(store: Store, made: Seed) {
  const corpus = createCorpus(7);
  let [textBytes, texts, n] = [0, [] as string[], 0];
  const next = () => {
    const event = corpus();
    const json = JSON.stringify(event.payload);
    textBytes += json.length * (n === 0 ? 1 : ALIKE);
    if (texts.length < 20_000) texts.push(json);
    return event;
  };
  const ids = await seedSessions(store, made, 1 + Math.ceil((EVENTS - MAX_SESSION) / SESSION / ALIKE));
  const deriver = await createDeriver(store, made.organizationId);
  const started = performance.now();
  for (const id of ids) {
    await seedEvents(store, made, id, n === 0 ? MAX_SESSION : SESSION, next);
    await deriver.derive(id);
    await setImmediate();
    if (n++ % 500 === 0)
      process.stderr.write(
        `  ${n} of ${ids.length} sessions, ${((performance.now() - started) / 1000).toFixed(0)} s\n`,
      );
  }
  await deriver.close();
  for (let n = 1; n < ALIKE; n++) await copySessions(store, ids[0] as string, `_${n}`);
  if (store.engine === 'postgres') await sql`analyze`.execute(store.db);
  const indexBytes = await sizeOfIndex(store);
  const began = performance.now();
  const signature = new Signature();
  let words = new RowWords();
  for (const text of texts) {
    if (words.isFull) words = new RowWords();
    addWords(text, words, signature);
  }
  const perMegabyte = (performance.now() - began) / (texts.reduce((sum, text) => sum + text.length, 0) / 1e6);
  const occurring = occurringIn(texts);
  const detail = `${(indexBytes / 1e6).toFixed(0)} MB for ${(textBytes / 1e6).toFixed(0)} MB of events; ${perMegabyte.toFixed(0)} ms a MB to cut them into words`;
  texts = [];
  return { largest: ids[0] as string, indexBytes, textBytes, detail, occurring };
}

async function sizeOfIndex(store: Store): Promise<number> {
  const size =
    store.engine === 'postgres'
      ? sql<{ bytes: string }>`select pg_relation_size('session_chunks_by_words') as bytes`
      : sql<{ bytes: number }>`select sum(length(block)) as bytes from chunk_words_data`;
  return Number((await size.execute(store.db)).rows[0]?.bytes);
}

/** Copies all sessions but the largest one, with their derived data. */
async function copySessions(store: Store, largest: string, ending: string): Promise<void> {
  const isCopied = sql`session_id <> ${largest} and session_id not like '%!_%!_%' escape '!'`;
  await store.db.transaction().execute(async (transaction) => {
    if (store.engine === 'postgres') await sql`set local statement_timeout = 0`.execute(transaction);
    for (const name of ['sessions', 'appends', 'session_facts', 'session_values', 'session_chunks'] as const) {
      const [row] = await transaction.selectFrom(name).selectAll().limit(1).execute();
      const columns = Object.keys(row ?? {}).filter((column) => column !== 'chunk_id');
      const values = columns.map((column) =>
        column === 'session_id' ? sql`session_id || ${ending}` : sql.ref(column),
      );
      const names = sql.join(columns.map((column) => sql.ref(column)));
      await sql`insert into ${sql.table(name)} (${names}) select ${sql.join(values)} from ${sql.table(name)} where ${isCopied}`.execute(
        transaction,
      );
    }
    if (store.engine === 'postgres') return;
    const copied = await transaction
      .selectFrom('session_chunks')
      .select(['chunk_id', 'words'])
      .where('session_id', 'like', `%${ending}`)
      .execute();
    for (const { chunk_id, words } of copied) {
      const text = zstdDecompressSync(words as Uint8Array).toString('utf8');
      await sql`insert into chunk_words (rowid, words) values (${chunk_id}, ${text})`.execute(transaction);
    }
  });
}
