import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { SPOOL_VERSION } from '../spool/schema.ts';
import { makeFolder, removeFiles, write } from '../test/folder.ts';
import { run, start } from '../test/program.ts';
import { startRealService } from '../test/real-service.ts';
import { startService } from '../test/service.ts';
import { sessionId } from '../test/transcripts.ts';

const SESSION = sessionId(1);

/**
 * An imitation of Claude Code. It writes its arguments as prompts, prints its environment, and ends as the first argument
 * says. On SIGTERM, it writes a last prompt.
 */
const AGENT = `#!${process.execPath}
const { appendFileSync, mkdirSync } = require('node:fs');
const [how, ...words] = process.argv.slice(2);
const folder = process.env.HOME + '/.claude/projects/p';
mkdirSync(folder, { recursive: true });
let said = 0;
const say = (content) => appendFileSync(folder + '/${SESSION}.jsonl', JSON.stringify({
  type: 'user', uuid: '00000000-0000-4000-8000-' + String(Date.now()).padStart(12, '0').slice(-9) + String(said++).padStart(3, '0'),
  sessionId: '${SESSION}', cwd: process.cwd(), timestamp: new Date().toISOString(), message: { role: 'user', content },
}) + '\\n');
words.forEach(say);
console.log(JSON.stringify(process.env));
if (how === 'wait') {
  process.on('SIGTERM', () => { say('last words'); process.exit(7); });
  setInterval(() => {}, 1000);
} else if (how === 'crash') process.kill(process.pid, 'SIGKILL');
else process.exitCode = Number(how);
`;

/** A machine without any set-up of capture, with the agent in its PATH. */
function layOut() {
  const home = makeFolder();
  const temporary = makeFolder();
  const programs = makeFolder();
  write(join(programs, 'claude'), AGENT, 0o755);
  const PATH = `${programs}:${process.env.PATH}`;
  return {
    home,
    temporary,
    variables: { PATH, TMPDIR: temporary, CAPTURE_HOME: '' },
    transcript: join(home, '.claude/projects/p', `${SESSION}.jsonl`),
  };
}

type Machine = ReturnType<typeof layOut>;

interface Target {
  url: string;
  secret: string;
}

function startExec({ home, variables }: Machine, target: Partial<Target>, args: string[]) {
  const child = start(['exec', ...args], { home, ...target, variables });
  onTestFinished(() => child.signal('SIGKILL'));
  return child;
}

async function exec(machine: Machine, target: Partial<Target>, ...args: string[]) {
  const child = startExec(machine, target, args);
  const code = await child.ended;
  return { code, stdout: child.stdout(), said: child.output().replace(child.stdout(), '') };
}

async function setUp() {
  const { service, options, events } = await startRealService();
  const { url, secret } = options;
  const prompts = async () => (await events()).flatMap(({ payload }) => payload.text ?? []);
  const sessions = () => service.store.db.selectFrom('sessions').selectAll().execute();
  const environments = () => service.store.db.selectFrom('environments').selectAll().execute();
  return { machine: layOut(), target: { url, secret }, prompts, sessions, environments };
}

/** The machine's own files, beside the agent's. */
const leftBehind = ({ home, temporary }: Machine) => [...readdirSync(home), ...readdirSync(temporary)];

test("a job's session is captured, completed and acknowledged before the exit code is returned", async () => {
  const { machine, target, prompts, sessions, environments } = await setUp();
  const { code, stdout, said } = await exec(machine, target, '--machine', 'ci', '--', 'claude', '3', 'one', 'two');
  expect({ code, said }).toMatchObject({ code: 3, said: expect.stringContaining('Captured ') });
  expect(await prompts()).toEqual(['one', 'two']);
  const [session, ...others] = await sessions();
  expect(others).toEqual([]);
  expect(session?.status).toBe('completed');
  expect(said).toContain(`/sessions/${session?.session_id}`);
  expect(await environments()).toMatchObject([{ hostname: 'ci' }]);
  expect(leftBehind(machine)).toEqual(['.claude']);
  // Neither the agent nor a reader of its output may get the secret.
  expect(JSON.parse(stdout)).not.toHaveProperty('CAPTURE_SECRET');
  expect(stdout + said).not.toContain(target.secret);
});

test('a signal is passed on to the agent, and its last records are captured', async () => {
  const { machine, target, prompts } = await setUp();
  const child = startExec(machine, target, ['--', 'claude', 'wait', 'one']);
  await expect.poll(child.stdout, { timeout: 20_000 }).not.toBe('');
  // The agent's records already arrive while it runs.
  await expect.poll(prompts, { timeout: 20_000 }).toEqual(['one']);
  expect(await child.end('SIGTERM')).toBe(7);
  expect(await prompts()).toEqual(['one', 'last words']);
  expect(leftBehind(machine)).toEqual(['.claude']);
});

test('an agent that a signal ended has the exit code of shells', async () => {
  const { machine, target, prompts } = await setUp();
  expect(await exec(machine, target, '--', 'claude', 'crash', 'one')).toMatchObject({ code: 137 });
  expect(await prompts()).toEqual(['one']);
});

test('only the new records of a resumed session are captured', async () => {
  const { machine, target, prompts } = await setUp();
  const before = { type: 'user', uuid: sessionId(2), sessionId: SESSION, timestamp: '2026-01-01T00:00:00Z' };
  write(machine.transcript, `${JSON.stringify({ ...before, message: { role: 'user', content: 'from before' } })}\n`);
  expect(await exec(machine, target, '--', 'claude', '0', 'new')).toMatchObject({ code: 0 });
  expect(await prompts()).toEqual(['new']);
});

test('a session that was skipped on this machine is kept back when a job continues it', async () => {
  const { machine, target, prompts } = await setUp();
  const before = { type: 'user', uuid: sessionId(2), sessionId: SESSION, timestamp: '2026-01-01T00:00:00Z' };
  write(machine.transcript, `${JSON.stringify({ ...before, message: { role: 'user', content: 'from before' } })}\n`);
  const options = { home: machine.home, ...target };
  expect(await run(['skip', SESSION], options)).toMatchObject({ exitCode: 0 });
  const variables = { ...machine.variables, CAPTURE_HOME: join(machine.home, 'state') };
  expect(await exec({ ...machine, variables }, target, '--', 'claude', '0', 'new')).toMatchObject({ code: 0 });
  expect(await prompts()).toEqual([]);
});

test("if the machine's decisions are lost, a job captures nothing of an older session, and says so", async () => {
  const { machine, target, prompts } = await setUp();
  const before = { type: 'user', uuid: sessionId(2), sessionId: SESSION, timestamp: '2026-01-01T00:00:00Z' };
  write(machine.transcript, `${JSON.stringify({ ...before, message: { role: 'user', content: 'from before' } })}\n`);
  const options = { home: machine.home, ...target };
  const state = join(machine.home, 'state');
  expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });
  expect(await run(['skip', SESSION], options)).toMatchObject({ exitCode: 0 });
  const sent = await prompts();
  removeFiles(state, /^decisions\.db/);
  const variables = { ...machine.variables, CAPTURE_HOME: state };
  const { code, said } = await exec({ ...machine, variables }, target, '--', 'claude', '0', 'new');
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('Decide again with `capture init`.') });
  expect(await prompts()).toEqual(sent);
});

test('if the decisions cannot be read, a job captures nothing of an older session, and says why', async () => {
  const { machine, target, prompts } = await setUp();
  const before = { type: 'user', uuid: sessionId(2), sessionId: SESSION, timestamp: '2026-01-01T00:00:00Z' };
  write(machine.transcript, `${JSON.stringify({ ...before, message: { role: 'user', content: 'from before' } })}\n`);
  const state = join(machine.home, 'state');
  expect(await run(['import'], { home: machine.home, ...target })).toMatchObject({ exitCode: 0 });
  const sent = await prompts();
  const db = new DatabaseSync(join(state, 'spool.db'));
  db.exec(`PRAGMA user_version = ${SPOOL_VERSION + 1}`);
  db.close();
  const variables = { ...machine.variables, CAPTURE_HOME: state };
  const { code, said } = await exec({ ...machine, variables }, target, '--', 'claude', '0', 'new');
  expect({ code, said }).toMatchObject({
    code: 0,
    said: expect.stringMatching(/cannot be read: .* was written by a newer version of capture\. .*\. Update capture\./),
  });
  expect(said).not.toMatch(/are lost|capture init/);
  expect(await prompts()).toEqual(sent);
});

test('the agent runs while the service is away, and the message lists undelivered sessions', async () => {
  const machine = layOut();
  const target = { url: 'http://127.0.0.1:9', secret: 'sk_live_test' };
  const { code, said } = await exec(machine, target, '--within', '2', '--', 'claude', '5', 'one');
  expect({ code, said }).toMatchObject({
    code: 5,
    said: expect.stringMatching(/cannot be reached: no server listens there\. /),
  });
  expect(said).toMatch(/warning: Not all of this run could be delivered: .*`capture import`/);
  expect(readFileSync(machine.transcript, 'utf8')).toContain('one');
  expect(leftBehind(machine)).toEqual(['.claude']);
});

test('the message for a service error does not claim that the service cannot be reached', async () => {
  const service = await startService({ faults: { unavailable: 1 } });
  onTestFinished(service.stop);
  const target = { url: service.url, secret: 'sk_live_test' };
  const { code, said } = await exec(layOut(), target, '--within', '2', '--', 'claude', '5', 'one');
  expect({ code, said }).toMatchObject({
    code: 5,
    said: expect.stringContaining('was reached, but answers with an error'),
  });
  expect(said).not.toContain('cannot be reached');
});

test.each([
  ['without a secret', {}, 'You are not signed in'],
  ['with a refused secret', { secret: 'sk_live_wrong' }, 'does not accept the organization secret'],
])('%s, nothing is run', async (_, given, message) => {
  const { machine, target } = await setUp();
  const { code, said } = await exec(machine, { url: target.url, ...given }, '--', 'claude', '0', 'one');
  expect({ code, said }).toMatchObject({ code: 4, said: expect.stringContaining(message) });
  expect(leftBehind(machine)).toEqual([]);
});

test('a command that does not exist is reported', async () => {
  const { machine, target } = await setUp();
  expect(await exec(machine, target, '--', 'no-such-agent')).toMatchObject({
    code: 127,
    said: expect.stringMatching(/^error: no-such-agent could not be started: it was not found\.\nhint: /),
  });
  expect(leftBehind(machine)).toEqual([]);
});
