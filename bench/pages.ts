import { startIssuer } from '../test/issuer.ts';
import { startMeasured, withFolder } from './process.ts';
import { median, type Row } from './report.ts';
import { type Seed, seed, seedEvents, seedSessions } from './seed.ts';
import { createEvents } from './text.ts';

const SAMPLES = 200;

/** Compares a page of the timeline and of the session list between a small and a large store, by medians of alternating reads. */
export async function benchPages(): Promise<Row[]> {
  const timeline = await withFolder((folder) =>
    compare(folder, seedTimelines, 'timeline page of 100 at 100,000 ÷ 1,000 events'),
  );
  const list = await withFolder((folder) => compare(folder, seedLists, 'session list of 50 at 100,000 ÷ 100 sessions'));
  return [timeline, list];
}

interface Pages {
  /** The pages to read, and their readers. */
  small: { url: string; owner: string };
  large: { url: string; owner: string };
}

async function compare(
  folder: string,
  prepare: (folder: string, issuer: string) => Promise<Pages>,
  what: string,
): Promise<Row> {
  const issuer = await startIssuer();
  const pages = await prepare(folder, issuer.url);
  const service = await startMeasured({ dataDir: folder }, issuer.env);
  try {
    const read = async ({ url, owner }: Pages['small']) => {
      const headers = { authorization: `Bearer ${await issuer.token(owner, `${owner}@example.com`)}` };
      return async () => {
        const started = performance.now();
        const reply = await fetch(service.url + url, { headers });
        if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
        await reply.arrayBuffer();
        return performance.now() - started;
      };
    };
    const [small, large] = [await read(pages.small), await read(pages.large)];
    const times = { small: [] as number[], large: [] as number[] };
    for (let i = 0; i < SAMPLES; i++) {
      times.small.push(await small());
      times.large.push(await large());
    }
    const [a, b] = [median(times.small), median(times.large)];
    return { what, figure: b / a, unit: '×', goal: '≤ 1.2', detail: `${b.toFixed(2)} ms against ${a.toFixed(2)} ms` };
  } finally {
    await service.stop();
    issuer.close();
  }
}

/** Two sessions of one organization. The page is the last full one, which would be slowest with an offset. */
async function seedTimelines(folder: string, issuer: string): Promise<Pages> {
  const owner = 'reader';
  const { small, large } = await seed({ dataDir: folder }, issuer, owner, async (store, made) => {
    const [small = '', large = ''] = await seedSessions(store, made, 2);
    const makeEvent = createEvents(7);
    await seedEvents(store, made, small, 1_000, makeEvent);
    await seedEvents(store, made, large, 100_000, makeEvent);
    return { small, large };
  });
  const page = (id: string, last: number) => `/v1/organizations/me/sessions/${id}/window?from=${last - 99}&limit=100`;
  return { small: { url: page(small, 1_000), owner }, large: { url: page(large, 100_000), owner } };
}

/** Two organizations, one with few sessions and one with many. */
async function seedLists(folder: string, issuer: string): Promise<Pages> {
  const fill = (owner: string, count: number) =>
    seed({ dataDir: folder }, issuer, owner, async (store, made: Seed) => ({
      ids: await seedSessions(store, made, count),
    }));
  await fill('small', 100);
  await fill('large', 100_000);
  const url = '/v1/organizations/me/sessions';
  return { small: { url, owner: 'small' }, large: { url, owner: 'large' } };
}
