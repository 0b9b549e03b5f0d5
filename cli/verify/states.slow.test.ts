import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { writeConsent } from '../privacy/consent.ts';
import { write } from '../test/folder.ts';
import { run, start } from '../test/program.ts';
import { placeFixtures, startRealService } from '../test/real-service.ts';
import { mode, prompt, sessionId } from '../test/transcripts.ts';

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');
const pathOf = (home: string, session: number, project = 'shop') =>
  join(home, '.claude/projects', project, `${sessionId(session)}.jsonl`);
const placeOf = (home: string) => ({ home, variables: { CAPTURE_HOME: join(home, 'state') } });

/** A result without a fault, and one with a fault. */
const clean = { exitCode: 0, findings: [] };
const one = prompt(1, 1, 'one');
const two = prompt(1, 2, 'two');
const three = prompt(1, 3, 'three');

async function startWith(...records: string[]) {
  const real = await startRealService();
  const file = write(pathOf(real.home, 1), lines(...records));
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  return { ...real, file };
}

test('appended records are waiting, and so is a transcript without captured records', async () => {
  const { home, file, verify } = await startWith(one);
  appendFileSync(file, lines(two, three));
  write(pathOf(home, 2), lines(prompt(2, 1, 'new')));
  expect(await verify()).toMatchObject({ ...clean, records: 1, waiting: 2, newFiles: 1 });
});

test('unsent events are waiting', async () => {
  const { file, options, verify } = await startWith(one);
  appendFileSync(file, lines(two));
  // No server listens there, so the events stay in the spool.
  const offline = { ...options, url: 'http://127.0.0.1:1' };
  await run(['import', '--patience', '0'], { ...options, context: { fetch: failAppends } });
  expect(await verify()).toMatchObject({ ...clean, records: 1, waiting: 1 });
  expect(await run(['verify', '--patience', '0'], offline)).toMatchObject({ exitCode: 75 });
});

test.each([500, 503])('a service that answers %d was reached, and verify says so', async (status) => {
  const { options } = await startWith(one);
  const broken: typeof fetch = () => Promise.resolve(new Response('<h1>Sorry</h1>', { status }));
  const { exitCode, stderr } = await run(['verify', '--patience', '0'], { ...options, context: { fetch: broken } });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 75,
    stderr: expect.stringMatching(
      /^error: The service at \S+ was reached, but answers with an error: .*[^.]\.\nhint: /m,
    ),
  });
});

const failAppends: typeof fetch = (input, init) =>
  String(input).endsWith('/appends') ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);

test('a change of known secrets is not a difference', async () => {
  const { home, verify } = await startWith(prompt(1, 1, 'the word is Rudbeckia-4711-xq'), two);
  write(join(home, '.aws/credentials'), '[default]\naws_secret_access_key = Rudbeckia-4711-xq\n');
  expect(await verify()).toMatchObject({ ...clean, records: 2, masked: 1 });
});

test('a mark of another key is not a difference', async () => {
  const secret = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5'.slice(0, 36)}`;
  const { home, verify, events } = await startWith(prompt(1, 1, `token ${secret}`), two);
  expect((await events())[0]?.payload.text).toMatch(/\[REDACTED:/);
  expect(await verify()).toMatchObject({ ...clean, masked: 0 });
  rmSync(join(home, 'state/redaction.key'));
  expect(await verify()).toMatchObject({ ...clean, masked: 1 });
});

test('a fork is complete with the records of its parent', async () => {
  const { home, file, run: capture, verify } = await startWith(one, two);
  write(pathOf(home, 2), lines(one, two, prompt(2, 3, 'of the fork')));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 3, replayed: 2, sessions: 2 });
  // A verification of the fork alone also checks the parent.
  expect(await verify(sessionId(2))).toMatchObject({ ...clean, records: 3, replayed: 2, sessions: 2 });
  rmSync(file);
  expect(await verify()).toMatchObject({ ...clean, records: 1, replayed: 2, deletedFiles: 1, unverifiable: 2 });
});

test('a deleted transcript cannot be verified, and verify says so', async () => {
  const { file, verify, run: capture } = await startWith(one, two);
  rmSync(file);
  expect(await verify()).toMatchObject({ ...clean, records: 0, deletedFiles: 1, unverifiable: 2 });
  const { stdout } = await capture('verify');
  expect(stdout).toContain('1 transcript cannot be verified: the agent deleted the file.\n');
});

test('moved, copied and rewritten transcripts are still verified', async () => {
  const { home, file, run: capture, verify, remove } = await startWith(one, mode(1), two);
  mkdirSync(join(home, '.claude/projects/other'));
  renameSync(file, pathOf(home, 1, 'other'));
  expect(await verify(sessionId(1))).toMatchObject({ ...clean, records: 3, deletedFiles: 0, unverifiable: 0 });
  appendFileSync(pathOf(home, 1, 'other'), lines(three));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 4, deletedFiles: 0, unverifiable: 0, history: 0 });
  // A copy continues where it goes beyond the original.
  write(pathOf(home, 1, 'copy'), lines(one, mode(1), two, three, mode(1)));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 5 });
  rmSync(pathOf(home, 1, 'copy'));
  writeFileSync(pathOf(home, 1, 'other'), lines(two, mode(1), prompt(1, 4, 'four')));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 3, deletedFiles: 1, history: 1, unverifiable: 2 });
  await remove(2);
  expect(await verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'missing', position: 0 }] });
});

test('a session that continued in another one is one session', async () => {
  const { file, service, events, run: capture, verify, options, remove } = await startWith(one);
  const [first] = await events();
  await service.call('POST', `/v1/sessions/${first?.sessionId}/complete`, { as: options.secret });
  appendFileSync(file, lines(two, three));
  await capture('import');
  const sessions = new Set((await events()).map(({ sessionId: id }) => id));
  expect(sessions.size).toBe(2);
  for (const id of sessions) expect(await verify(id)).toMatchObject({ ...clean, records: 3, sessions: 1 });
  await remove(0);
  expect(await verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'missing', position: 0 }] });
});

test('earlier records without consent are left out', async () => {
  const { home, options, verify, service } = await startRealService();
  write(pathOf(home, 1), lines(one));
  writeConsent(placeOf(home), { since: Date.now() - 1000, history: 'none' });
  const child = start(['run'], options);
  await vi.waitFor(() => expect(child.output()).toMatch(/aptur/), { timeout: 60_000 });
  appendFileSync(pathOf(home, 1), lines(prompt(1, 2, 'two', { timestamp: new Date().toISOString() })));
  const count = () => service.store.db.selectFrom('sessions').select('event_count').execute();
  await vi.waitFor(async () => expect((await count())[0]?.event_count).toBeGreaterThan(0), { timeout: 60_000 });
  await child.end('SIGTERM');
  expect(await verify()).toMatchObject({ ...clean, records: 1, keptBack: 1 });
});

test('a compaction that repeats earlier records without consent is left out', async () => {
  const { home, run: capture, verify } = await startRealService();
  writeConsent(placeOf(home), { since: Date.now() - 60_000, history: 'none' });
  const timestamp = new Date().toISOString();
  const compaction = prompt(1, 3, 'in short', { timestamp, isCompactSummary: true });
  write(pathOf(home, 1), lines(one, prompt(1, 2, 'two', { timestamp }), compaction));
  expect(await capture('import')).toMatchObject({ exitCode: 0 });
  expect(await verify()).toMatchObject({ ...clean, records: 1, keptBack: 2 });
});

test('a compaction in a new transcript of a sub-agent is left out if its session began before the consent', async () => {
  const { home, run: capture, verify } = await startRealService();
  writeConsent(placeOf(home), { since: Date.now() - 60_000, history: 'none' });
  const timestamp = new Date().toISOString();
  write(pathOf(home, 1), lines(one, prompt(1, 2, 'two', { timestamp })));
  const more = { timestamp, isSidechain: true, agentId: 'a1' };
  const compaction = prompt(1, 4, 'in short', { ...more, isCompactSummary: true });
  const below = `${sessionId(1)}/subagents/agent-a1.jsonl`;
  write(join(home, '.claude/projects/shop', below), lines(prompt(1, 3, 'three', more), compaction));
  expect(await capture('import')).toMatchObject({ exitCode: 0 });
  expect(await verify()).toMatchObject({ ...clean, records: 2, keptBack: 2 });
});

test('a lost record that was captured before the consent for it was taken back is missing', async () => {
  const { home, file, verify, remove, run: capture } = await startWith(one, two);
  writeConsent(placeOf(home), { since: Date.now() - 1000, history: 'none' });
  appendFileSync(file, lines(prompt(1, 3, 'three', { timestamp: new Date().toISOString() })));
  expect(await capture('import')).toMatchObject({ exitCode: 0 });
  expect(await verify()).toMatchObject({ ...clean, records: 3 });
  await remove(0);
  expect(await verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'missing', position: 0 }] });
});

test('a lost record without a time is missing if its session began after capturing did', async () => {
  const { home, run: capture, verify, remove } = await startRealService();
  writeConsent(placeOf(home), { since: Date.now() - 60_000, history: 'none' });
  const now = new Date().toISOString();
  write(pathOf(home, 1), lines(mode(1), prompt(1, 2, 'two', { timestamp: now })));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 2 });
  await remove(0);
  expect(await verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'missing', position: 0 }] });
});

test('all events of a session that the service has lost are missing', async () => {
  const { service, verify } = await startWith(one, two);
  // For this secret, that is the same as no session.
  await service.store.db.updateTable('sessions').set({ plane: 'test' }).execute();
  const { exitCode, findings, problems } = await verify();
  expect({ exitCode, missing: problems.missing }).toEqual({ exitCode: 1, missing: findings.length });
  expect(findings.length).toBe(2);
});

test("sessions are chosen by the agent's id, its beginning, the service's id, agent and age", async () => {
  const { home, run: capture, verify, events } = await startWith(one);
  write(pathOf(home, 2), lines(prompt(2, 1, 'other')));
  await capture('import');
  const [first] = await events();
  for (const name of [sessionId(1), sessionId(1).slice(0, 13), first?.sessionId ?? '']) {
    expect(await verify(name), name).toMatchObject({ ...clean, sessions: 1, records: 1 });
  }
  // A check that compares nothing fails.
  expect(await verify('--agent', 'codex')).toMatchObject({ exitCode: 1, findings: [], sessions: 0 });
  expect(await verify('--agent', 'claude-code')).toMatchObject({ sessions: 2 });
  expect(await verify('--since', '2026-03-01T09:01:30Z')).toMatchObject({ sessions: 1 });
  expect(await verify('--since', '1d')).toMatchObject({ sessions: expect.any(Number) });
  for (const args of [['none'], [sessionId(1).slice(0, 8)], ['--agent', 'none'], ['--since', 'then']]) {
    expect(await verify(...args), args.join(' ')).toMatchObject({ exitCode: 2 });
  }
});

test('a session deleted at the service is left out', async () => {
  const { home, run: capture, verify } = await startWith(one, two);
  write(pathOf(home, 2), lines(prompt(2, 1, 'other')));
  await capture('import');
  expect(await capture('delete', sessionId(1), '--yes')).toMatchObject({ exitCode: 0, stderr: '' });
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 1, keptBack: 2 });
});

test('a skipped session is left out', async () => {
  const { file, verify, run: capture, options } = await startWith(one);
  appendFileSync(file, lines(two));
  await run(['import', '--patience', '0'], { ...options, context: { fetch: failAppends } });
  expect(await capture('skip', sessionId(1))).toMatchObject({ exitCode: 0 });
  expect(await verify()).toMatchObject({ ...clean, records: 1, keptBack: 1 });
});

test('a record that was appended to a session that is kept back is kept back, and waits for nothing', async () => {
  const { file, verify, run: capture } = await startWith(one);
  expect(await capture('delete', sessionId(1), '--yes')).toMatchObject({ exitCode: 0, stderr: '' });
  appendFileSync(file, lines(two));
  await capture('import');
  expect(await verify()).toMatchObject({ ...clean, records: 0, keptBack: 2, waiting: 0 });
});

test('an event that the service refused before it accepted any other waits', async () => {
  const { file, verify, options } = await startWith(one);
  appendFileSync(file, lines(two));
  const refuse: typeof fetch = (input, init) =>
    String(input).endsWith('/appends')
      ? Promise.resolve(Response.json({ error: 'No.', code: 'validation_failed' }, { status: 400 }))
      : fetch(input, init);
  await run(['import'], { ...options, context: { fetch: refuse } });
  expect(await verify()).toMatchObject({ ...clean, records: 1, waiting: 1 });
});

test('a service that loses answers gets the request again', async () => {
  const real = await startWith(one, two);
  let asked = 0;
  const shaky: typeof fetch = (input, init) =>
    String(input).includes('/digests') && ++asked % 2 === 1
      ? Promise.reject(new TypeError('fetch failed'))
      : fetch(input, init);
  expect(await run(['verify'], { ...real.options, context: { fetch: shaky } })).toMatchObject({ exitCode: 0 });
  expect(asked).toBe(2);
});

test('many sessions take few requests, and other processes come first', async () => {
  const real = await startRealService();
  for (let number = 1; number <= 230; number++) {
    write(join(real.home, '.claude/projects/shop', `${sessionId(number)}.jsonl`), lines(prompt(number, 1, 'one')));
  }
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  const asked: string[] = [];
  let isLow = false;
  const counting: typeof fetch = (input, init) => {
    asked.push(new URL(String(input)).pathname);
    return fetch(input, init);
  };
  const lowerPriority = () => {
    isLow = true;
  };
  const { exitCode, stdout } = await run(['verify'], { ...real.options, context: { fetch: counting, lowerPriority } });
  expect({ exitCode, stdout, isLow }).toMatchObject({ exitCode: 0, isLow: true });
  expect(stdout).toContain('230 records of 230 sessions: all there');
  expect(asked.filter((path) => path === '/v1/digests')).toHaveLength(3);
});

test('earlier forms of a document that its agent has changed are history', async () => {
  const { home, run: capture, verify, remove, events } = await startRealService();
  placeFixtures(home);
  await capture('import', '--agent', 'cline');
  const before = await verify();
  expect(before).toMatchObject({ ...clean, history: 0 });
  const paths = readdirSync(home, { recursive: true, encoding: 'utf8' });
  const file = join(home, paths.find((path) => path.endsWith('tasks/1760000000000/ui_messages.json')) ?? '');
  writeFileSync(file, JSON.stringify(changeFirstText(JSON.parse(readFileSync(file, 'utf8')))));
  utimesSync(file, new Date(), new Date(Date.now() - 60_000));
  expect(await verify()).toMatchObject({ ...clean, waiting: 1 });
  await capture('import', '--agent', 'cline');
  expect(await verify()).toMatchObject({ ...clean, records: before.records, waiting: 0, history: 1 });
  const number = (await events()).findIndex(({ payload }) => JSON.stringify(payload).includes('changed by its agent'));
  await remove(number);
  // The service now has the earlier form of the record.
  expect(await verify()).toMatchObject({ exitCode: 1, findings: [{ problem: 'different', file }] });
});

function changeFirstText(messages: { text?: string }[]): object[] {
  const at = messages.findIndex(({ text }) => text !== undefined && !text.startsWith('{'));
  return messages.map((message, index) => (index === at ? { ...message, text: 'changed by its agent' } : message));
}

test('a transcript with a line that is too long to be captured is not reported as complete', async () => {
  const { run: capture, file } = await startWith(one);
  appendFileSync(file, `{"type":"user","text":"${'x'.repeat(65 * 1024 * 1024)}"}\n${two}\n`);
  await capture('import');
  const { exitCode, stdout } = await capture('verify');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('1 line of a transcript too long to be captured');
  expect(stdout).not.toContain('all there');
});
