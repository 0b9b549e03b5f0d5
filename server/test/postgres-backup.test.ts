import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patience } from '../../contract/test/runs.ts';
import { type PostgresServer, startServer } from '../../test/postgres.ts';
import { runCommand } from '../commands.ts';
import { DEBIAN_POSTGRES, readableServer, runClient } from './debian-postgres.ts';
import { attach, ENGINES } from './engines.ts';
import { event, whenDerived } from './factories.ts';
import { startTestService, type TestService, testConfig } from './harness.ts';
import { createWorld, type World } from './world.ts';

/** The role of the service as in docs/backup.md. */
const ROLE = 'capture';

describe.skipIf(!ENGINES.includes('postgres') || !DEBIAN_POSTGRES)('a dump of PostgreSQL', () => {
  const { server: binaries, client } = DEBIAN_POSTGRES ?? { server: '', client: '' };
  let folder: string;
  /** The server that is backed up, and the one into which the dump is restored. */
  let servers: PostgresServer[];
  let service: TestService;
  let world: World;
  let dump: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'capture-dump-'));
    chmodSync(folder, 0o755);
    dump = join(folder, 'capture.dump');
    const readable = readableServer(binaries, folder);
    servers = await Promise.all([0, 1].map(() => startServer({ isQuick: true, ...readable })));
    for (const server of servers) await administer(server, [`create role ${ROLE} login createrole`]);
    await createDatabase(0, 'capture');
    service = await startTestService('postgres', {}, await attach(join(folder, 'data'), urlOf(0, 'capture')));
    world = await createWorld(service);
  }, patience(60_000));
  afterAll(async () => {
    await service?.close();
    await service?.store.close();
    for (const server of servers ?? []) await server.stop();
    rmSync(folder, { recursive: true });
  });

  async function administer(server: PostgresServer, statements: readonly string[]): Promise<void> {
    const admin = new pg.Client({ connectionString: `${server.url}/postgres` });
    await admin.connect();
    for (const statement of statements) await admin.query(statement);
    await admin.end();
  }

  const createDatabase = (at: number, name: string) =>
    administer(servers[at] as PostgresServer, [`create database ${name} owner ${ROLE}`]);
  const urlOf = (at: number, name: string) => `${servers[at]?.url.replace('//postgres@', `//${ROLE}@`)}/${name}`;

  /** Runs the commands of docs/backup.md. */
  const backUp = (file: string) =>
    runClient(client, 'pg_dump', ['--format=custom', `--file=${file}`, urlOf(0, 'capture')]);
  async function restore(name: string): Promise<string> {
    await createDatabase(1, name);
    const words = ['--exit-on-error', '--no-owner', '--no-privileges', `--role=${ROLE}`];
    await runClient(client, 'pg_restore', [...words, `--dbname=${servers[1]?.url}/${name}`, dump]);
    return urlOf(1, name);
  }

  async function run(databaseUrl: string, ...words: string[]): Promise<string> {
    const lines: string[] = [];
    const config = () => testConfig({ DATA_DIR: join(folder, 'data'), DATABASE_URL: databaseUrl });
    await runCommand(words, config, (line) => void lines.push(line)).catch((error: Error) => {
      throw new Error([...lines, error.message].join('\n'));
    });
    return lines.join('\n');
  }

  const append = async (text: string): Promise<number> => {
    const asked = { as: world.ours.live, body: { events: [event(text)] } };
    return (await service.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, asked)).body.lastSequence;
  };

  test('has every event that was acknowledged before its start, and a service on the restored database continues', {
    timeout: patience(60_000),
  }, async () => {
    let acknowledged = 0;
    let isDone = false;
    const load = Promise.all(
      [1, 2, 3, 4].map(async (one) => {
        while (!isDone) acknowledged = Math.max(acknowledged, await append(`load ${one}`));
      }),
    );
    await expect.poll(() => acknowledged).toBeGreaterThan(20);
    const before = acknowledged;
    await backUp(dump);
    isDone = true;
    await load;
    expect(acknowledged).toBeGreaterThan(before);

    const url = await restore('restored');
    // The chains are whole. The service of this test keeps no heads to compare them with, so the check does not pass.
    await expect(run(url, 'audit', 'verify')).rejects.toThrow(
      /^Read \d+ entries of 2 organizations\.\nCompared 0 heads of 0 organizations\.\norg_.* has no head .*\norg_.* has no head .*\nNo signed head was compared with 2 of 2/,
    );
    const other = await startTestService('postgres', {}, await attach(join(folder, 'other'), url));
    try {
      // Row-level security is in force again, although the new server did not have its role.
      expect(other.store.hasRowSecurity).toBe(true);
      const path = `/v1/organizations/me/sessions/${world.ours.sessionId}`;
      const { body } = await other.call('GET', path, { as: world.ours.member });
      expect(body.session.eventCount).toBeGreaterThanOrEqual(before);
      const events = await other.call('GET', `${path}/events?limit=1000`, { as: world.ours.member });
      expect(events.body.events).toHaveLength(Math.min(1000, body.session.eventCount));
      const sent = { as: world.ours.live, body: { events: [event('after')] } };
      const appended = await other.call('POST', `/v1/sessions/${world.ours.sessionId}/events`, sent);
      expect(appended).toMatchObject({ status: 200, body: { firstSequence: body.session.eventCount + 1 } });
    } finally {
      await other.close();
      await other.store.close();
    }
  });

  test('has each row of an export from the same time, and a missing row is found', {
    timeout: patience(60_000),
  }, async () => {
    const file = join(folder, 'ours.export');
    const count = await append('the last');
    await whenDerived(service, world.ours.member, world.ours.sessionId, count);
    await service.app.close();
    await run(urlOf(0, 'capture'), 'export', world.ours.organizationId, file);
    await backUp(dump);
    const url = await restore('compared');
    expect(await run(url, 'import', file, '--check')).toContain('The store has what');
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query('delete from appends where session_id = $1 and last_sequence = $2', [
      world.ours.sessionId,
      count,
    ]);
    await admin.query("update audit_entries set actor_id = 'usr_forged' where sequence = 1");
    await admin.end();
    await expect(run(url, 'import', file, '--check')).rejects.toThrow(
      `appends ${world.ours.sessionId} ${count} is only in the file`,
    );
    await expect(run(url, 'audit', 'verify')).rejects.toThrow(/findings/);
  });
});
