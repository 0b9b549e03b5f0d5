import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ENGINES, openTestStore, type TestStore } from './engines.ts';
import { serve } from './harness.ts';
import { watchStatements } from './plans.ts';
import { play } from './scenarios.ts';
import { SCENARIOS } from './tables/all.ts';
import { createWorld } from './world.ts';

const STORE = join(import.meta.dirname, '../store');

describe.each(ENGINES)('the statements of the routes on %s', (engine) => {
  const sent = new Set<string>();
  let empty: TestStore;
  beforeAll(async () => {
    empty = await openTestStore(engine);
    await sendAll(await openTestStore(engine), sent);
  });
  afterAll(() => empty?.dispose());

  test('can be prepared before there are any rows', async () => {
    const refused: string[] = [];
    await prepareOn(empty, async (prepare) => {
      for (const text of sent) await prepare(text).catch((error) => refused.push(`${error.message}: ${text}`));
    });
    expect(refused).toEqual([]);
  });

  test('are at least two thirds of those that the store has', () => {
    const written = [...new Set(beginnings())];
    const texts = [...sent].map(plain);
    const unsent = written.filter((beginning) => !texts.some((text) => text.includes(beginning)));
    // Commands and background jobs send the others, and their tests run on both engines.
    expect(unsent.length / written.length, unsent.join('\n')).toBeLessThan(1 / 3);
  });
});

/** Sends the requests of all scenarios in one world. */
async function sendAll(store: TestStore, sent: Set<string>): Promise<void> {
  const watched = (db: TestStore['db']) => watchStatements(db, (text) => sent.add(text));
  const longReads = { ...store.longReads, db: watched(store.longReads.db) };
  const service = await serve({ ...store, db: watched(store.db), longReads }, {});
  try {
    const world = await createWorld(service);
    // An earlier scenario may have removed what a later one needs to begin with; its own test shows its answer.
    for (const scenario of SCENARIOS) {
      await play(world, scenario)
        .then(({ ask, reply }) => scenario.after?.(world, reply, ask))
        .catch(() => undefined);
    }
  } finally {
    await service.close();
  }
}

type Prepare = (text: string) => Promise<unknown>;

/** Has the engine parse and check statements, without running them. */
async function prepareOn({ pool, dataDir }: TestStore, work: (prepare: Prepare) => Promise<void>): Promise<void> {
  if (pool === undefined) {
    const file = new DatabaseSync(join(dataDir, 'session-capture.sqlite'));
    await work(async (text) => file.prepare(text)).finally(() => file.close());
    return;
  }
  const client = await pool.connect();
  await work(async (text) => {
    await client.query(`prepare one as ${text}`);
    await client.query('deallocate one');
  }).finally(() => client.release());
}

/** The beginning of each statement in the source, up to the first value or part that is put into it. */
const beginnings = (): string[] =>
  globSync('*.ts', { cwd: STORE }).flatMap((file) =>
    [...readFileSync(join(STORE, file), 'utf8').matchAll(STATEMENT)].map(([, text = '']) => plain(text)),
  );

const STATEMENT = /\bsql(?:<[^`]*?>)?`\s*((?:select|insert into|update|delete from|with)\b[^`$]*)/g;

const plain = (text: string) => text.replace(/\s+/g, ' ').replaceAll('"', '').trim();
