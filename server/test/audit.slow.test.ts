import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AuditHeads, readAuditKey, readHeads } from '../audit/heads.ts';
import { NO_HEADS, verifyAudit } from '../audit/verify.ts';
import { COMMANDS } from '../commands.ts';
import { ENGINES, LOGS } from './engines.ts';
import { settled, startTestService, testConfig } from './harness.ts';
import { playScenarios } from './scenarios.ts';
import { openSigned } from './signed-in.ts';
import { AUDIT_SCENARIOS } from './tables/audit.ts';
import { startWorld, type World } from './world.ts';

playScenarios('audit', AUDIT_SCENARIOS);

test('heads are signed with a key that replicas share through their pepper, and are also stored in the log', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'capture-audit-'));
  const config = testConfig({ DATA_DIR: dataDir, SECRET_PEPPER: 'shared by replicas' });
  const [one, other] = [readAuditKey(config), readAuditKey(config, false)];
  const foreign = readAuditKey({ ...config, SECRET_PEPPER: 'of another service' });
  const head = one.sign('org_1', { sequence: 3, hash: 'a'.repeat(64) }, 1);
  expect([other.isOwn(head), foreign.isOwn(head)]).toEqual([true, false]);
  const file = join(dataDir, 'service.log');
  writeFileSync(file, `\n${JSON.stringify({ level: 30, head, msg: 'signed' })}\n`);
  expect(await readHeads(file, other)).toMatchObject({
    foreignLines: [],
    byOrganization: new Map([['org_1', [head]]]),
  });
  expect(() => readAuditKey({ ...config, SECRET_PEPPER: undefined }, false)).toThrow('there is no');
  rmSync(dataDir, { recursive: true });
});

describe.each(LOGS)('the deletion of a session on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const remove = (sessionId: string) =>
    world.service.call('DELETE', `/v1/organizations/me/sessions/${sessionId}`, { as: world.ours.owner });
  const read = (sessionId: string) =>
    world.service.call('GET', `/v1/organizations/me/sessions/${sessionId}`, { as: world.ours.owner });
  const deletionsOf = async (sessionId: string) => {
    const path = '/v1/organizations/me/audit?action=session.deleted';
    const { entries } = (await world.service.call('GET', path, { as: world.ours.owner })).body;
    return entries.filter(({ target }: { target: { id: string } }) => target.id === sessionId);
  };

  test('has one audit entry with its actor and event count', async () => {
    const { ours } = world;
    const all = await Promise.all([remove(ours.sessionId), remove(ours.sessionId), remove(ours.sessionId)]);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await deletionsOf(ours.sessionId)).toMatchObject([{ actor: { kind: 'person' }, details: { events: 2 } }]);
  });

  test('is rolled back if its audit entry cannot be written', async () => {
    const { ours, service } = world;
    const { db, bus } = service.store;
    await sql`alter table audit_entries rename to audit_entries_away`.execute(db);
    const [refused, appended] = await Promise.all([
      remove(ours.closedSessionId),
      service.call('POST', `/v1/sessions/${ours.sessionId}/events`, {
        as: ours.live,
        body: { events: [{ eventType: 'notice' }] },
      }),
    ]);
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect(appended.status).toBe(bus ? 202 : 200);
    const kept = db.selectFrom('sessions').select('deleted_at').where('session_id', '=', ours.closedSessionId);
    expect(await kept.execute()).toEqual([{ deleted_at: null }]);
    await sql`alter table audit_entries_away rename to audit_entries`.execute(db);
    expect((await remove(ours.closedSessionId)).status).toBe(200);
    await settled(bus);
    expect((await read(ours.closedSessionId)).status).toBe(404);
    expect(await deletionsOf(ours.closedSessionId)).toHaveLength(1);
    expect((await verifyAudit(db, NO_HEADS)).findings).toEqual([]);
  });
});

describe.each(ENGINES)('the audit log on %s', (engine) => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld(engine);
  });
  afterEach(() => world.service.close());

  const call = (method: string, path: string, body?: object) =>
    world.service.call(method, `/v1/organizations/me${path && `/${path}`}`, { as: world.ours.owner, body });
  const list = async () => (await call('GET', 'audit?limit=500')).body.entries;

  test('has an entry for each action with its actor and target', async () => {
    const { ours } = world;
    const before = (await list()).length;
    const { secretId } = (await call('POST', 'secrets')).body;
    await call('DELETE', `secrets/${secretId}`);
    await call('DELETE', `secrets/${secretId}`);
    await call('PATCH', '', { name: 'another name' });
    const invited = (await call('POST', 'members', { email: 'new@example.com', role: 'member' })).body;
    await call('PATCH', `members/${invited.userId}`, { role: 'admin' });
    await call('DELETE', `members/${invited.userId}`);
    await call('DELETE', `environments/${ours.environmentId}`);
    await call('DELETE', `sessions/${ours.sessionId}`);
    await call('DELETE', `sessions/${ours.sessionId}`);
    await call('PATCH', '', { name: 'another name' });
    // The removal of the session's events gets an entry when it is done, which may be earlier than this.
    const added = (await list())
      .slice(0, -before)
      .filter(({ action }: { action: string }) => action !== 'session.removed')
      .reverse();
    const by = { kind: 'person', id: ours.ownerId };
    const newcomer = { kind: 'person', id: invited.userId };
    expect(added).toMatchObject([
      { actor: by, action: 'secret.issued', target: { kind: 'secret', id: secretId }, details: { plane: 'live' } },
      { actor: by, action: 'secret.revoked', target: { kind: 'secret', id: secretId } },
      { actor: by, action: 'organization.renamed', target: { kind: 'organization', id: ours.organizationId } },
      { actor: by, action: 'member.invited', target: newcomer, details: { role: 'member' } },
      { actor: by, action: 'member.role_changed', target: newcomer, details: { from: 'member', to: 'admin' } },
      { actor: by, action: 'member.removed', target: newcomer, details: { role: 'admin', status: 'invited' } },
      { actor: by, action: 'machine.revoked', target: { kind: 'machine', id: ours.environmentId } },
      { actor: by, action: 'session.deleted', target: { kind: 'session', id: ours.sessionId } },
    ]);
  });

  test('records once an hour that a member is signed in at an external provider', async () => {
    const { ours, service } = world;
    const signIns = async () =>
      (await call('GET', `audit?action=member.signed_in&actor=${ours.memberId}`)).body.entries.length;
    const use = () => service.call('GET', '/v1/organizations/me', { as: ours.member });
    const before = await signIns();
    await Promise.all([use(), use(), use()]);
    const replica = await startTestService(engine, {}, service.store);
    replica.clock.now = service.clock.now;
    await replica.call('GET', '/v1/organizations/me', { as: ours.member });
    expect(await signIns()).toBe(before);
    service.clock.now += 3_600_001;
    await Promise.all([use(), use(), use()]);
    expect(await signIns()).toBe(before + 1);
    await replica.app.close();
  });

  test('has an entry for a new agent on a machine, and none for a repeated registration', async () => {
    const { ours, service } = world;
    const agents = `/v1/environments/${ours.environmentId}/agents`;
    const install = () => service.call('POST', agents, { as: ours.live, body: { agentId: 'opencode' } });
    expect((await install()).status).toBe(201);
    expect((await install()).status).toBe(201);
    const { entries } = (await call('GET', 'audit?action=agent.installed&limit=1')).body;
    const [{ sequence }] = await list();
    expect(entries).toMatchObject([
      { sequence, actor: { kind: 'secret' }, details: { agent: 'opencode', machine: ours.environmentId } },
    ]);
  });

  test('records that an invitation ended because its person joined elsewhere, without naming the other organization', async () => {
    const { ours, theirs, service } = world;
    const email = 'wanted@example.com';
    const body = { email, role: 'member' };
    const invited = await service.call('POST', '/v1/organizations/me/members', { as: theirs.owner, body });
    const ownInvitation = await call('POST', 'members', body);
    const person = await service.identity.token({ subject: 'wanted', email });
    const joining = { as: person, body: { organizationId: ours.organizationId } };
    expect((await service.call('POST', '/v1/me/membership', joining)).status).toBe(200);
    const path = '/v1/organizations/me/audit?action=member.invitation_ended';
    const { entries } = (await service.call('GET', path, { as: theirs.owner })).body;
    expect(entries).toMatchObject([{ target: { id: invited.body.userId } }]);
    expect(JSON.stringify(entries)).not.toContain(ownInvitation.body.userId);
    expect((await verifyAudit(service.store.db, NO_HEADS)).findings).toEqual([]);
  });

  test('has an entry for each expired session', async () => {
    const { ours, service } = world;
    const past = service.clock.now - 30 * 86_400_000;
    const { db } = service.store;
    const old = [ours.sessionId, ours.closedSessionId];
    await db
      .updateTable('sessions')
      .set({ created_at: past, updated_at: past })
      .where('session_id', 'in', old)
      .execute();
    // The round at this service's start would count some of the sessions.
    await service.app.close();
    const expiring = await startTestService(engine, { RETENTION_DAYS: 29 }, service.store);
    const path = '/v1/organizations/me/audit?action=session.expired';
    const expired = async () => (await expiring.call('GET', path, { as: ours.owner })).body.entries;
    const about = old.map((id) => expect.objectContaining({ target: { kind: 'session', id } }));
    await expect.poll(expired).toEqual(expect.arrayContaining(about));
    expect(await expired()).toMatchObject(old.map(() => ({ actor: { kind: 'service', id: 'retention' } })));
    await expiring.app.close();
  });

  test('names the secrets that were revoked with a removed person, and contains no e-mail', async () => {
    const { ours, service } = world;
    await call('PATCH', `members/${ours.memberId}`, { role: 'admin' });
    const { secretId } = (await service.call('POST', '/v1/organizations/me/secrets', { as: ours.member })).body;
    await call('DELETE', `members/${ours.memberId}`);
    const [revoked, removed] = await list();
    expect(removed).toMatchObject({ action: 'member.removed', target: { id: ours.memberId } });
    expect(revoked).toMatchObject({ action: 'secret.revoked', target: { id: secretId } });
    expect(JSON.stringify(await list())).not.toContain('@');
  });

  test('has entries about a private session without its id, except for those who may know of it', async () => {
    const { service, ours } = world;
    // The first request of a member has an entry of its own.
    await service.call('GET', '/v1/me', { as: ours.admin });
    const sessionId = await openSigned(world, ours.member, 'team');
    const url = `/v1/organizations/me/sessions/${sessionId}`;
    const hold = { target: { kind: 'session', id: sessionId }, reason: 'a lawsuit' };
    const { holdId } = (await service.call('POST', '/v1/organizations/me/holds', { as: ours.owner, body: hold })).body
      .hold;
    await service.call('PUT', `${url}/visibility`, { as: ours.member, body: { visibility: 'private' } });
    const pages = async () => {
      const page = await service.call('GET', '/v1/organizations/me/audit', { as: ours.admin });
      const events = await service.call('GET', '/v1/organizations/me/audit/events?limit=10000', { as: ours.admin });
      return { page, events };
    };
    const { page, events } = await pages();
    for (const { text } of [page, events]) expect(text).not.toContain(sessionId);
    expect(page.body.entries.slice(0, 2)).toMatchObject([
      {
        action: 'session.visibility_changed',
        actor: { id: ours.memberId },
        target: { kind: 'session', id: 'withheld' },
        withheld: true,
      },
      { action: 'hold.placed', target: { id: holdId }, details: { on: 'session', id: 'withheld' }, withheld: true },
    ]);
    expect(page.body.entries[2]).not.toHaveProperty('withheld');
    expect(events.body.at(-1)).toMatchObject({ entity: { uid: 'withheld' }, unmapped: { withheld: true } });
    // The chain is that of the store, so it still verifies, and a collector finds each entry after the one before.
    expect((await verifyAudit(service.store.db, NO_HEADS)).findings).toEqual([]);
    const [last, before] = page.body.entries;
    expect(last.previous).toBe(before.hash);

    await service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body: { adminsSeeAll: true } });
    expect((await pages()).page.text).toContain(sessionId);
    await service.call('PUT', '/v1/organizations/me/policy', { as: ours.owner, body: {} });
    expect((await pages()).page.text).not.toContain(sessionId);
    await service.call('PATCH', `/v1/organizations/me/members/${ours.memberId}`, {
      as: ours.owner,
      body: { role: 'admin' },
    });
    const own = await service.call('GET', '/v1/organizations/me/audit', { as: ours.member });
    expect(own.text).toContain(sessionId);
  });

  test('records once that a person has left and who owns the organization afterwards', async () => {
    const { ours, service } = world;
    await call('PATCH', `members/${ours.memberId}`, { role: 'owner' });
    const leave = () => service.call('DELETE', '/v1/me/membership', { as: ours.owner });
    await Promise.all([leave(), leave()]);
    const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.member })).body;
    const actions = entries.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action === 'member.left')).toHaveLength(1);
    expect(entries.find(({ action }: { action: string }) => action === 'organization.owner_changed')).toMatchObject({
      actor: { id: ours.ownerId },
      target: { id: ours.memberId },
    });
  });

  test('accepts an entry during the deletion of its organization, and neither waits forever', async () => {
    const { ours, service } = world;
    const { secretId } = (await call('POST', 'secrets')).body;
    const { name } = (await call('GET', '')).body;
    const as = ours.owner;
    const [ended] = await Promise.all([
      service.call('POST', '/v1/organizations/me/deletion', { as, body: { name } }),
      service.call('DELETE', `/v1/organizations/me/secrets/${secretId}`, { as }),
    ]);
    expect(ended).toMatchObject({ status: 200 });
  });

  test('fails the action if the entry cannot be written, and the action leaves nothing', async () => {
    const { db } = world.service.store;
    const before = (await call('GET', 'secrets')).body.secrets.length;
    await sql`alter table audit_entries rename to audit_entries_away`.execute(db);
    const refused = await call('POST', 'secrets');
    await sql`alter table audit_entries_away rename to audit_entries`.execute(db);
    expect(refused.status).toBeGreaterThanOrEqual(500);
    expect((await call('GET', 'secrets')).body.secrets).toHaveLength(before);
    expect((await verifyAudit(db, NO_HEADS)).findings).toEqual([]);
  });

  test('has no gap and no fork after simultaneous actions', async () => {
    await Promise.all(Array.from({ length: 20 }, () => call('POST', 'secrets')));
    const { findings, entries } = await verifyAudit(world.service.store.db, NO_HEADS);
    expect(findings).toEqual([]);
    expect(entries).toBeGreaterThan(40);
  });

  describe('is verified against signed heads:', () => {
    const organizationOf = () => world.ours.organizationId;

    async function sign() {
      const { dataDir, db } = world.service.store;
      const file = join(dataDir, 'audit-heads.jsonl');
      const key = readAuditKey(testConfig({ DATA_DIR: dataDir }));
      await new AuditHeads({ db, key, file, now: () => world.service.clock.now }).sign();
      return { file, key, heads: () => readHeads(file, key) };
    }

    test.each([
      ['an edited entry', 'edited', () => sql`update audit_entries set actor_id = 'usr_x' where sequence = 3`],
      ['a removed entry', 'missing', () => sql`delete from audit_entries where sequence = 3`],
      ['a removed head', 'added', () => sql`delete from audit_heads`],
      ['a removed log', 'cut off', () => sql`delete from audit_entries`],
    ])('%s is found', async (_, problem, change) => {
      const { heads } = await sign();
      const { db } = world.service.store;
      const organizationId = organizationOf();
      await change().execute(db);
      const { findings } = await verifyAudit(db, await heads());
      expect(findings).toContainEqual(expect.objectContaining({ organizationId, problem }));
    });

    test('a log without its last entries and its head is found', async () => {
      const { heads } = await sign();
      const { db } = world.service.store;
      await sql`delete from audit_entries where sequence > 2`.execute(db);
      await sql`
        update audit_heads set sequence = 2,
          hash = (select hash from audit_entries e where e.organization_id = audit_heads.organization_id and sequence = 2)
      `.execute(db);
      expect((await verifyAudit(db, NO_HEADS)).findings).toEqual([]);
      const { findings } = await verifyAudit(db, await heads());
      expect(findings.map(({ problem }) => problem)).toEqual(['cut off', 'cut off']);
    });

    test('a head with a foreign signature or a change is reported with its line', async () => {
      const { file, key, heads } = await sign();
      const lines = readFileSync(file, 'utf8').split('\n');
      writeFileSync(file, lines.map((line) => line.replace('"sequence":', '"sequence":1')).join('\n'));
      expect((await heads()).foreignLines.length).toBe(lines.filter(Boolean).length);
      writeFileSync(file, `${lines.join('\n')}{"organizationId":"org_1","sequ`);
      expect(await readHeads(file, key)).toMatchObject({ foreignLines: [] });
    });

    test.each([
      ['is empty', () => ''],
      ['was replaced by a later one', (lines: string[]) => `${lines[0]}\n`],
      ['has only cut lines', (lines: string[]) => lines.map((line) => `${line.slice(0, 40)}\n\n`).join('')],
    ])('a log that was cut off and chained anew does not pass if the file of heads %s', async (_name, spoil) => {
      const { file } = await sign();
      const { dataDir, databaseUrl, db } = world.service.store;
      await sql`delete from audit_entries where sequence > 2`.execute(db);
      await sql`
        update audit_heads set sequence = 2,
          hash = (select hash from audit_entries e where e.organization_id = audit_heads.organization_id and sequence = 2)
      `.execute(db);
      writeFileSync(file, spoil(readFileSync(file, 'utf8').split('\n').filter(Boolean)));
      const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
      const lines: string[] = [];
      const verified = COMMANDS['audit verify']?.(config, (line) => void lines.push(line), []);
      await expect(verified).rejects.toThrow(/^The audit log was changed|^No signed head was compared with/);
      expect(lines.join('\n')).not.toContain('Nothing was changed.');
      rmSync(file);
      const unnamed = COMMANDS['audit verify']?.(config, () => undefined, []);
      await expect(unnamed).rejects.toThrow('No signed head was compared with 2 of 2 organizations');
    });

    test('half a line at the end is forgiven, and gone before the next heads are written', async () => {
      const { file, heads } = await sign();
      const before = readFileSync(file, 'utf8');
      appendFileSync(file, '\n{"organizationId":"org_1","sequ');
      expect((await heads()).foreignLines).toEqual([]);
      await sign();
      expect((await heads()).foreignLines).toEqual([]);
      expect(readFileSync(file, 'utf8').startsWith(before)).toBe(true);
      expect(readFileSync(file, 'utf8')).not.toContain('"sequ\n');
      writeFileSync(file, `{"organizationId":"org_1","sequ\n${before}`);
      expect((await heads()).foreignLines).toEqual([1]);
    });

    test('a deleted organization causes no finding', async () => {
      const { file, key, heads } = await sign();
      const { db } = world.service.store;
      const organizationId = organizationOf();
      await sql`delete from audit_entries where organization_id = ${organizationId}`.execute(db);
      await sql`delete from audit_heads where organization_id = ${organizationId}`.execute(db);
      await sql`update organizations set status = 'deleted' where organization_id = ${organizationId}`.execute(db);
      expect((await verifyAudit(db, await heads())).findings).toMatchObject([{ organizationId, problem: 'cut off' }]);
      await new AuditHeads({ db, key, file, now: Date.now }).end(organizationId);
      expect((await verifyAudit(db, await heads())).findings).toEqual([]);
      await sql`update organizations set status = 'active' where organization_id = ${organizationId}`.execute(db);
      expect((await verifyAudit(db, await heads())).findings).toMatchObject([{ problem: 'written anew' }]);
    });

    test('the command reads the store beside the running service, and fails if something does not match', async () => {
      await sign();
      const { dataDir, databaseUrl, db } = world.service.store;
      const config = testConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl });
      const lines: string[] = [];
      const write = (line: string) => void lines.push(line);
      await COMMANDS['audit verify']?.(config, write, []);
      expect(lines.join('\n')).toMatch(
        /^Read \d+ entries of 2 organizations\.\nCompared 2 heads of 2 organizations\.\nNothing was changed\.$/,
      );
      await sql`update audit_entries set action = 'member.left' where sequence = 2`.execute(db);
      const file = join(dataDir, 'audit-heads.jsonl');
      appendFileSync(file, '{"forged":true}\n{"forged":true}\n');
      await expect(COMMANDS['audit verify']?.(config, write, ['--heads', file])).rejects.toThrow(
        /^The audit log was changed: \d+ findings\.$/,
      );
      expect(lines.join('\n')).toMatch(/ entry 2: edited\n/);
      await expect(COMMANDS['audit verify']?.(config, write, ['--tail'])).rejects.toThrow(
        'accepts no option except --heads FILE',
      );
      expect(existsSync(join(dataDir, 'audit-key.pem'))).toBe(true);
    });
  });
});
