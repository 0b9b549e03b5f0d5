import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../store/open.ts';
import { attach, openTestStore, type TestStore } from './engines.ts';
import { event, openSession } from './factories.ts';
import { failFsyncs, orderDisk } from './failing-disk.ts';
import { startTestService } from './harness.ts';
import { expectProblem } from './shape.ts';
import { createWorld, type World } from './world.ts';

const PROGRAM = fileURLToPath(new URL('append-until-lost.ts', import.meta.url));
const READING = fileURLToPath(new URL('read-from-disk.ts', import.meta.url));
const UNSYNCED = fileURLToPath(new URL('derive-then-sync.ts', import.meta.url));
/** SQLITE_IOERR_FSYNC */
const NOT_SYNCED = 1034;
/** A new connection syncs about 30 times while it sets up its tables; later fsyncs belong to appends. */
const FIRST_FAILING = 150;

interface Line {
  sessionId: string;
  sent?: string;
  stored?: string;
  firstSequence?: number;
  refused?: string;
  status?: number | string;
  lost?: string;
  errcode?: number;
}

const folder = mkdtempSync(join(tmpdir(), 'capture-lost-'));
afterAll(() => rmSync(folder, { recursive: true }));
const disk = failFsyncs(folder, FIRST_FAILING);
const ordered = orderDisk(folder);

describe('an embedded store that fails', () => {
  let store: TestStore;
  let world: World;
  let sessionIds: string[];
  beforeAll(async () => {
    store = await openTestStore('sqlite');
    const service = await startTestService('sqlite', {}, store);
    world = await createWorld(service);
    sessionIds = await Promise.all([1, 2, 3, 4].map(() => openSession(service, world.ours.live, world.ours)));
    await service.close();
    await store.close();
  });
  afterAll(() => store.dispose());

  /** Runs the program until the store fails. @returns its lines and its exit code */
  function appendUntilLost(before: readonly string[], variables: Record<string, string>) {
    const words = [process.execPath, PROGRAM];
    const [program = '', ...rest] = [...before, ...words, store.dataDir, world.ours.organizationId, sessionIds.join()];
    const { status, stdout } = spawnSync(program, rest, {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...variables },
      timeout: 40_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    return {
      status,
      lines: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Line),
    };
  }

  /** Expects every acknowledged event at its number, no gap, no duplicate and no unsent event. */
  async function expectKept(lines: readonly Line[], alreadyThere: ReadonlyMap<string, string[]>) {
    store = await attach(store.dataDir, undefined);
    const service = await startTestService('sqlite', {}, store);
    for (const sessionId of sessionIds) {
      const texts = await read(service, sessionId);
      const before = alreadyThere.get(sessionId)?.length ?? 0;
      const of = lines.filter((line) => line.sessionId === sessionId);
      for (const { stored, firstSequence } of of) if (stored) expect(texts[Number(firstSequence) - 1]).toBe(stored);
      const added = texts.slice(before);
      expect(new Set(added).size).toBe(added.length);
      const sent = new Set(of.map((line) => line.sent));
      expect(added.filter((text) => !sent.has(text))).toEqual([]);
    }
    await service.close();
    await store.close();
  }

  async function read(service: Awaited<ReturnType<typeof startTestService>>, sessionId: string): Promise<string[]> {
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const { events } = (await service.call('GET', `${url}/events?limit=100000`, { as: world.ours.owner })).body as {
      events: { sequence: number; payload: { text: string } }[];
    };
    const { session } = (await service.call('GET', url, { as: world.ours.owner })).body;
    expect(session.eventCount).toBe(events.length);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    return events.map(({ payload }) => payload.text);
  }

  async function readAll(): Promise<Map<string, string[]>> {
    store = await attach(store.dataDir, undefined);
    const service = await startTestService('sqlite', {}, store);
    const all = new Map<string, string[]>();
    for (const sessionId of sessionIds) all.set(sessionId, await read(service, sessionId));
    await service.close();
    await store.close();
    return all;
  }

  function expectRefusedInFlight(lines: readonly Line[]) {
    expect(lines.filter(({ stored }) => stored).length).toBeGreaterThan(10);
    const answered = new Set(lines.map(({ stored, refused }) => stored ?? refused));
    for (const { sent } of lines) if (sent) expect(answered).toContain(sent);
    const refused = lines.filter(({ refused }) => refused);
    expect(refused.length).toBeGreaterThan(0);
    for (const { status } of refused) expect(status).toBe(503);
  }

  // Needs strace and the right to trace, or a C compiler: there is no other way to make a sync fail.
  test.skipIf(disk === undefined)(
    'because its disk no longer syncs reports that, and acknowledges nothing afterwards',
    async () => {
      const before = await readAll();
      const { status, lines } = appendUntilLost(disk?.command ?? [], disk?.variables ?? {});
      expect(status).toBe(70);
      const at = lines.findIndex(({ lost }) => lost);
      expect(lines[at]?.errcode).toBe(NOT_SYNCED);
      // Refusals may follow the line about the failure; acknowledgements do not.
      expectRefusedInFlight(lines);
      expect(lines.slice(at).filter(({ stored }) => stored)).toEqual([]);
      await expectKept(lines, before);
    },
    60_000,
  );

  // Has the same requirements.
  test.skipIf(disk === undefined)('writes derived rows without a sync, and later transactions with one', () => {
    const words = [...(disk?.command ?? []), process.execPath, UNSYNCED, store.dataDir];
    const { stdout } = spawnSync(words[0] as string, words.slice(1), {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, ...disk?.variables },
      timeout: 40_000,
    });
    const { derived, synced } = JSON.parse(stdout) as Record<string, number>;
    expect(derived).toBe(2 * FIRST_FAILING);
    expect(synced).toBeGreaterThan(10);
    expect(synced).toBeLessThan(FIRST_FAILING);
  });

  // Needs a C compiler: there is no other way to make a read fail.
  test.skipIf(ordered === undefined)(
    'is not damaged if its disk fails a read or is gone, and the caller tries again',
    () => {
      const { organizationId, sessionId } = world.ours;
      const orders = ['gone', 'gone', 'next', 'sync'];
      const words = [READING, store.dataDir, organizationId, sessionId, ...orders];
      const { stdout } = spawnSync(process.execPath, words, {
        encoding: 'utf8',
        env: { PATH: process.env.PATH, ...ordered?.variables },
        timeout: 40_000,
      });
      const gone = { order: 'gone', code: 'service_unavailable', retryAfter: 1 };
      expect(JSON.parse(stdout)).toEqual([
        gone,
        gone,
        { order: 'next', code: 'read' },
        { order: 'sync', code: 'read' },
      ]);
    },
  );

  test('because its file is damaged where it writes reports that, and answers 503; a damaged read harms nobody else', async () => {
    const file = join(store.dataDir, 'session-capture.sqlite');
    const damaged = new DatabaseSync(file);
    const [{ page }, { size }] = [
      damaged.prepare(`SELECT rootpage AS page FROM sqlite_schema WHERE name = 'appends'`).get() as { page: number },
      damaged.prepare('SELECT page_size AS size FROM pragma_page_size').get() as { size: number },
    ];
    damaged.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    damaged.close();
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size);
    closeSync(handle);

    const lost: Error[] = [];
    const far = await openStore({
      dataDir: store.dataDir,
      onError: () => undefined,
      onLost: (error) => lost.push(error),
    });
    const service = await startTestService('sqlite', {}, { ...store, ...far });
    const url = `/v1/sessions/${sessionIds[0]}/events`;
    const reply = await service.call('POST', url, { as: world.ours.live, body: { events: [event('x')] } });
    expectProblem(reply, 503, 'service_unavailable');
    expect(lost[0]).toMatchObject({ errcode: 11 });
    lost.length = 0;
    const reading = `/v1/organizations/me/sessions/${world.ours.sessionId}/events`;
    expectProblem(await service.call('GET', reading, { as: world.ours.owner }), 500, 'events_damaged');
    expect(lost).toEqual([]);
    await service.close();
    await far.close();
  });
});
