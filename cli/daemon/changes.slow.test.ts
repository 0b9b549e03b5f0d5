import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import type { DatabaseStore, DocumentStore } from '../agents/store.ts';
import { setUpDaemon } from '../test/daemon.ts';
import { write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { logPaths } from './log.ts';

const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

/** Prompts with a total of so many megabytes. */
const long = (session: number, megabytes: number) => {
  const text = 'word '.repeat(2000);
  return Array.from({ length: megabytes * 100 }, (_, id) => `${prompt(session, id, text)}\n`).join('');
};

test('a sign-in for another organization captures the home for that organization', async () => {
  const { start, service, login, say, waitForTexts } = await setUpDaemon();
  await start();
  service.state.secret = 'sk_live_other';
  service.state.organizationId = 'org_2';
  await login('sk_live_other');
  say(1, 0, 'one');
  await waitForTexts(1, ['one']);
});

test('a daemon whose state folder is deleted ends, and says how to continue', async () => {
  const { start, state } = await setUpDaemon();
  const { ended } = await start();
  rmSync(state, { recursive: true });
  await expect(ended).rejects.toMatchObject({
    message: expect.stringContaining('was deleted'),
    hint: expect.stringContaining('capture login'),
  });
  expect(existsSync(join(state, 'daemon.pid'))).toBe(false);
});

test('a daemon whose spool is deleted creates a new one, and continues', async () => {
  const { start, state, say, texts, waitForTexts } = await setUpDaemon();
  say(1, 0, 'one');
  const { warnings } = await start();
  await waitForTexts(1, ['one']);
  for (const end of ['', '-wal', '-shm']) rmSync(join(state, `spool.db${end}`), { force: true });
  await until(() => expect(warnings()).toContain('spool.db was deleted'));
  say(2, 0, 'two');
  await waitForTexts(2, ['two']);
  expect(texts(1)).toEqual(['one']);
});

test('a session that is skipped during reading is abandoned at once', async () => {
  const { start, home, file, state, texts, say, waitForTexts } = await setUpDaemon();
  write(file(1), long(1, 20));
  await start();
  await until(() => expect(texts(1).length).toBeGreaterThan(0));
  expect(await run(['skip', sessionId(1)], { home, variables: { CAPTURE_HOME: state } })).toMatchObject({
    exitCode: 0,
  });
  // The request in progress may still be answered.
  await sleep(200);
  const arrived = texts(1).length;
  say(2, 0, 'another');
  await waitForTexts(2, ['another']);
  await sleep(500);
  expect([texts(1).length, arrived < 2000]).toEqual([arrived, true]);
});

test('unreadable settings pause capturing without losing records', async () => {
  const { start, state, service, say, waitForTexts } = await setUpDaemon({ timing: { restartMs: 400 } });
  say(1, 0, 'one');
  const { warnings } = await start();
  await waitForTexts(1, ['one']);
  const countOpenings = () => service.state.requests.filter((request) => request === 'GET /v1/secret').length;
  const before = countOpenings();
  writeFileSync(join(state, 'preferences.json'), '{');
  say(1, 1, 'two');
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect(warnings()).toContain('preferences.json');
  expect(countOpenings() - before).toBeLessThanOrEqual(5);
  writeFileSync(join(state, 'preferences.json'), '{}');
  await waitForTexts(1, ['one', 'two']);
});

test('a new session does not wait for a large one that is being read', async () => {
  const { start, file, texts, say, waitForTexts } = await setUpDaemon({ timing: { sliceMs: 50 } });
  say(1, 0, 'small');
  await start();
  await waitForTexts(1, ['small']);
  write(file(2), long(2, 20));
  await until(() => expect(texts(2).length).toBeGreaterThan(0));
  say(3, 0, 'new');
  say(1, 1, 'more');
  await waitForTexts(3, ['new']);
  await waitForTexts(1, ['small', 'more']);
  expect(texts(2).length).toBeLessThan(2000);
  await until(() => expect(texts(2)).toHaveLength(2000));
});

test('a large document that changes all the time is left alone after each reading, whatever else changes', async () => {
  let readings = 0;
  const store: DocumentStore = {
    kind: 'document',
    split(text) {
      readings++;
      return [{ name: '', records: JSON.parse(text) }];
    },
  };
  const agents = AGENTS.map((agent) => (agent.id === 'roo-code' ? { ...agent, store } : agent));
  const { home, start, say, waitForTexts } = await setUpDaemon({ timing: { sliceMs: 1 }, context: { agents } });
  await start();
  const path = join(home, '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1760000000000');
  const messages = Array.from({ length: 1000 }, (_, id) => ({
    ...{ ts: 1760000000000 + id, type: 'say', say: 'text', text: `${id} ${'word '.repeat(500)}` },
  }));
  const text = JSON.stringify(messages);
  const said: string[] = [];
  for (let id = 0; id < 60; id++) {
    write(join(path, 'ui_messages.json'), `${text}${' '.repeat(id)}`);
    say(1, id, `${id}`);
    said.push(`${id}`);
    await sleep(50);
  }
  await waitForTexts(1, said);
  expect(readings).toBeGreaterThan(0);
  // One reading looks for its sessions, and one reads their records.
  expect(readings).toBeLessThan(8);
});

test('a database that cannot be read is tried less and less often, however often it changes', async () => {
  let tries = 0;
  const store: DatabaseStore = {
    kind: 'database',
    sessions(query) {
      tries++;
      return query('SELECT 1') as never;
    },
    records: () => [],
  };
  const agents = AGENTS.map((agent) => (agent.id === 'goose' ? { ...agent, store } : agent));
  const { home, start, say, waitForTexts } = await setUpDaemon({ context: { agents } });
  const { warnings } = await start();
  const said: string[] = [];
  for (let id = 0; id < 60; id++) {
    write(join(home, '.local/share/goose/sessions/sessions.db'), 'half of a database '.repeat(id + 1));
    say(1, id, `${id}`);
    said.push(`${id}`);
    await sleep(50);
  }
  await waitForTexts(1, said);
  expect(warnings()).toContain('sessions.db cannot be read');
  // A try takes up to three readings, because the file may have changed meanwhile.
  expect(tries).toBeLessThan(3 * 9);
});

test('a session that was just written to stays open, whether its agent runs or not', async () => {
  const { start, say, service, waitForTexts } = await setUpDaemon();
  await start();
  say(1, 0, 'one');
  await waitForTexts(1, ['one']);
  const beats = service.state.heartbeats;
  await until(() => expect(service.state.heartbeats).toBeGreaterThan(beats + 3));
  expect([...service.state.sessions.values()].map(({ status }) => status)).toEqual(['active']);
});

test('changes of the waiting events are reported in counts and fixed words only', async () => {
  const { start, say, service, waitForTexts } = await setUpDaemon();
  await start();
  say(1, 0, 'one');
  await waitForTexts(1, ['one']);
  const known = { coverage: { captured: expect.any(Number), keptBack: 0, waiting: expect.any(Number) }, gaps: [] };
  await until(() => expect(service.state.reports.at(-1)).toEqual({ waiting: 0, states: [], ...known }));
  const count = service.state.reports.length;
  const beats = service.state.heartbeats;
  await until(() => expect(service.state.heartbeats).toBeGreaterThan(beats + 3));
  expect(service.state.reports).toHaveLength(count);
  service.state.installationStatus = 'disabled';
  say(2, 1, 'two');
  await until(() =>
    expect(service.state.reports.at(-1)).toEqual({ waiting: 1, states: [{ state: 'deferred' }], ...known }),
  );
});

test('a pause is reported with its times, and so is its end', async () => {
  const { start, home, state, service } = await setUpDaemon();
  await start();
  const variables = { CAPTURE_HOME: state };
  const reported = () => service.state.reports.at(-1)?.states;
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
  await run(['pause'], { home, variables });
  await until(() => expect(reported()).toEqual([{ state: 'pause', since: time }]));
  await run(['pause', '--for', '2h'], { home, variables });
  await until(() => expect(reported()).toEqual([{ state: 'pause', since: time, until: time }]));
  await run(['resume'], { home, variables });
  await until(() => expect(reported()).toEqual([]));
});

test('a state that keeps capture from starting is reported without any name', async () => {
  const { start, state, service } = await setUpDaemon();
  await start();
  write(join(state, 'preferences.json'), '{"exlude": ["~/secret-plan"]}');
  await until(() =>
    expect(service.state.reports.at(-1)).toEqual({ waiting: 0, states: [{ state: 'preferences' }], gaps: [] }),
  );
  write(join(state, 'preferences.json'), '{}');
  await until(() => expect(service.state.reports.at(-1)).toMatchObject({ waiting: 0, states: [] }));
});

test('transcripts that stay unread are reported after a while', async () => {
  const { start, home, service } = await setUpDaemon({ inspectMs: 300 });
  const name = `${sessionId(2)}.jsonl`;
  await start();
  mkdirSync(join(home, '.claude/projects/shop'), { recursive: true });
  // A link to itself cannot be opened by anybody, not even root.
  symlinkSync(name, join(home, '.claude/projects/shop', name));
  await until(() => expect(service.state.reports.at(-1)?.states).toContainEqual({ state: 'readable' }));
});

test('a note from a Cursor hook is captured at once', async () => {
  const { start, state, service } = await setUpDaemon();
  await start();
  const id = 'bbbbbbbb-1111-4222-8333-444444444444';
  const leave = (name: string, text: string) => {
    const event = { conversation_id: id, hook_event_name: 'beforeSubmitPrompt', prompt: text };
    write(join(state, 'inbox/cursor', `${name}.json`), JSON.stringify(event));
  };
  const prompts = () => (service.eventsBySession().get(id) ?? []).flatMap(({ payload }) => payload.text ?? []);
  leave('1-0', 'one');
  await until(() => expect(prompts()).toEqual(['one']));
  leave('2-0', 'two');
  await until(() => expect(prompts()).toEqual(['one', 'two']));
});

test('a session takes a line in a terminal, and an object for programs', async () => {
  const { start, say, waitForTexts } = await setUpDaemon({ isTTY: true });
  say(1, 0, 'Mend the \u001b[31mdoor');
  const { shown, end } = await start();
  say(1, 1, 'and the window');
  await waitForTexts(1, ['Mend the \u001b[31mdoor', 'and the window']);
  await until(() =>
    expect(shown()).toMatch(/^\d\d:\d\d:\d\d {2}claude-code {3}Mend the door {2}\d events? {2}sent\n$/),
  );
  await end();
  const programs = await setUpDaemon({ json: true });
  programs.say(2, 0, 'one');
  const daemon = await programs.start();
  await until(() =>
    expect(JSON.parse(daemon.shown())).toMatchObject({
      ...{ agent: 'claude-code', session: sessionId(2), title: 'one', events: 1, state: 'open' },
    }),
  );
});

test('without a decision about earlier sessions, the daemon says once that they are kept back', async () => {
  const { start, say, state } = await setUpDaemon({ consent: 'unasked' });
  say(1, 0, 'one');
  say(2, 0, 'two');
  const first = await start();
  expect(first.warnings()).toContain('2 earlier transcripts are not: `capture init --history all` sends them.');
  await first.end();
  const second = await start();
  expect(second.warnings()).not.toContain('earlier');
  expect(readFileSync(logPaths(state).current, 'utf8').match(/earlier transcripts/g)).toHaveLength(1);
});

test('unfinished records of a new agent are captured once they are at rest', async () => {
  const { home, service, start } = await setUpDaemon({ timing: { patienceMs: 500 } });
  await start();
  const session = '1796000000000_ab1cd';
  const made = join(home, 'made', 'data', 'sessions', session, `${session}.json`);
  write(made, JSON.stringify({ session_id: session, status: 'completed', ended_at: new Date().toISOString() }));
  renameSync(join(home, 'made'), join(home, '.cline'));
  const ends = () => JSON.stringify([...service.state.sessions.values()]).includes('completed');
  await vi.waitFor(() => expect(ends()).toBe(true), { timeout: 60_000 });
});
