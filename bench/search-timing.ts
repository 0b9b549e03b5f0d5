import { parseQuery } from '../contract/query.ts';
import { UTC } from '../contract/time-zone.ts';
import { search } from '../server/search/search-sessions.ts';
import type { Store } from '../server/store/open.ts';
import { createDeriver } from './deriver.ts';
import { onBothEngines } from './postgres.ts';
import type { Where } from './process.ts';
import { median, quantile, type Row } from './report.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';

const HIDDEN = Number(process.env.BENCH_HIDDEN ?? 5_000);
/** Sessions that everybody may read. */
const SHOWN = 300;
const PAIRS = 200;

/** Measures whether the time of a search tells a member how many hidden sessions have a word. */
export const benchSearchTiming = (): Promise<Row[]> => onBothEngines(measure);

async function measure(engine: string, where: Where): Promise<Row[]> {
  const { rows } = await seed(where, 'http://issuer', 'owner', async (store, made) => {
    await fill(store, made);
    return { rows: await compare(engine, store, made) };
  });
  return rows;
}

/** Searches in turn for a word of hidden sessions only, and for words that no session has. */
async function compare(engine: string, store: Store, { organizationId }: Seed): Promise<Row[]> {
  const viewer = { organizationId, userId: 'usr_other', seesAll: false };
  const timeOf = async (q: string) => {
    const begun = performance.now();
    const { found } = await search(store.db, {
      ...{ viewer, planes: ['live'], query: parseQuery(q), order: 'started', direction: 'desc' },
      ...{ limit: 50, now: Date.now(), calendar: UTC },
    });
    if (found.length > 0) throw new Error('A hidden session was found.');
    return performance.now() - begun;
  };
  const times = { hidden: [] as number[], nobody: [] as number[], again: [] as number[] };
  for (let n = 0; n < PAIRS + 10; n++) {
    const pair = [await timeOf('inhidden'), await timeOf('innobody'), await timeOf('inneither')] as const;
    // The first ones compile and fill caches.
    if (n < 10) continue;
    times.hidden.push(pair[0]);
    times.nobody.push(pair[1]);
    times.again.push(pair[2]);
  }
  const quartiles = (all: number[]) => [0.25, 0.5, 0.75].map((part) => quantile(all, part).toFixed(2)).join(', ');
  return [
    {
      what: `search of a word that ${HIDDEN} hidden sessions have, more than of one that none has, ${engine}`,
      figure: median(times.hidden) - median(times.nobody),
      unit: 'ms',
      goal: 'within noise',
      detail: `quartiles in ms of ${PAIRS}: ${quartiles(times.hidden)} hidden; ${quartiles(times.nobody)} and ${quartiles(times.again)} none`,
    },
  ];
}

async function fill(store: Store, made: Seed): Promise<void> {
  const deriver = await createDeriver(store, made.organizationId);
  const ids = await seedSessions(store, made, SHOWN + HIDDEN);
  const hidden = ids.slice(SHOWN);
  for (let at = 0; at < hidden.length; at += 500)
    await store.db
      .updateTable('sessions')
      .set({ visibility: 'private', user_id: 'usr_owner' })
      .where('session_id', 'in', hidden.slice(at, at + 500))
      .execute();
  for (const [n, id] of ids.entries()) {
    const text = n < SHOWN ? 'some other words' : 'inhidden words';
    await seedEvents(store, made, id, 1, () => ({ eventType: 'assistant.message', payload: { text } }));
    await deriver.derive(id);
  }
  await deriver.close();
}
