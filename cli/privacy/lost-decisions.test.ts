import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { setUpDaemon } from '../test/daemon.ts';
import { removeFiles, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { writeConsent } from './consent.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Writes a prompt of now, or of a time that the clock has yet to show; the prompts of the daemon's tests have fixed dates. */
function sayNow(file: string, session: number, text: string, aheadMs = 0): void {
  const time = new Date(Date.now() + aheadMs);
  write(file, `${prompt(session, 0, text, { timestamp: time.toISOString() })}\n`);
  if (aheadMs > 0) utimesSync(file, time, time);
}

test('a lost decision about earlier sessions counts as no consent', async () => {
  const { start, state, say, file, age, texts, waitForTexts } = await setUpDaemon({
    consent: { since: Date.now() - DAY, history: 'none' },
  });
  const first = await start();
  sayNow(file(1), 1, 'one');
  await waitForTexts(1, ['one']);
  await first.end();
  say(2, 0, 'earlier');
  age(file(2));
  removeFiles(state, /^decisions\.db/);
  const second = await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual([]);
  await second.end();
});

test('a session from before the loss stays here if the clock was set back since the session began', async () => {
  const { start, state, file, texts, waitForTexts } = await setUpDaemon();
  const first = await start();
  sayNow(file(1), 1, 'one', HOUR);
  await waitForTexts(1, ['one']);
  await first.end();
  removeFiles(state, /^decisions\.db/);
  const second = await start();
  sayNow(file(1), 1, 'kept back', 2 * HOUR);
  sayNow(file(3), 3, 'later', 2 * HOUR);
  await waitForTexts(3, ['later']);
  expect(texts(1)).toEqual(['one']);
  await second.end();
});

test('damaged decisions count as no consent, and the daemon continues', async () => {
  const { start, state, say, file, age, texts, waitForTexts } = await setUpDaemon();
  const first = await start();
  sayNow(file(1), 1, 'one');
  await waitForTexts(1, ['one']);
  await first.end();
  say(2, 0, 'earlier');
  age(file(2));
  for (const name of readdirSync(state)) {
    if (/^decisions\.db-/.test(name)) rmSync(join(state, name));
    if (/^decisions\.db$/.test(name)) writeFileSync(join(state, name), 'x'.repeat(8192));
  }
  await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual([]);
});

test('decisions that are deleted under a running daemon count as lost, and later decisions apply', async () => {
  const { start, home, state, service, file, texts, waitForTexts } = await setUpDaemon();
  const { warnings } = await start();
  sayNow(file(1), 1, 'one');
  await waitForTexts(1, ['one']);
  removeFiles(state, /^decisions\.db/);
  await vi.waitFor(() => expect(warnings()).toContain('decisions.db was deleted or replaced'), { timeout: 10_000 });
  const options = { home, url: service.url, secret: 'sk_live_test', variables: { CAPTURE_HOME: state } };
  expect(await run(['skip', sessionId(1)], options)).toMatchObject({ exitCode: 0 });
  sayNow(file(1), 1, 'kept-back');
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(1)).toEqual(['one']);
});

/** A session and its fork, both sent. Then the decisions are lost, and the person allows everything again. */
async function loseAfterFork() {
  const daemon = await setUpDaemon();
  const { start, home, state, service, file, texts, waitForTexts } = daemon;
  const first = await start();
  const timestamp = new Date().toISOString();
  write(file(1), `${prompt(1, 1, 'one', { timestamp })}\n`);
  await waitForTexts(1, ['one']);
  const fork = [
    prompt(1, 1, 'one', { timestamp, sessionId: sessionId(2) }),
    prompt(2, 1, 'of the fork', { timestamp }),
  ];
  const writeFork = () => write(file(2), `${fork.join('\n')}\n`);
  writeFork();
  await vi.waitFor(() => expect(texts(2)).toContain('of the fork'), { timeout: 30_000 });
  await first.end();
  removeFiles(state, /^decisions\.db/);
  const variables = { CAPTURE_HOME: state };
  writeConsent({ home, variables }, { since: Date.parse(timestamp) - DAY, history: 'all' });
  const options = { home, url: service.url, secret: 'sk_live_test', variables };
  return {
    ...daemon,
    async skipParent(): Promise<void> {
      expect(await run(['skip', sessionId(1)], options)).toMatchObject({ exitCode: 0 });
    },
    sayInFork(text: string): void {
      fork.push(prompt(2, fork.length, text, { timestamp: new Date().toISOString() }));
      writeFork();
    },
  };
}

test('a session at rest that is skipped after the loss keeps back later records of its forks', async () => {
  const { start, texts, file, waitForTexts, skipParent, sayInFork } = await loseAfterFork();
  const sent = texts(2);
  await skipParent();
  sayInFork('kept back');
  await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual(sent);
});

test("a session at rest that is skipped after its fork was met again keeps back the fork's later records", async () => {
  const { start, texts, file, waitForTexts, skipParent, sayInFork } = await loseAfterFork();
  sayInFork('before the skip');
  const daemon = await start();
  await vi.waitFor(() => expect(texts(2)).toContain('before the skip'), { timeout: 30_000 });
  await daemon.end();
  const sent = texts(2);
  await skipParent();
  sayInFork('kept back');
  await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual(sent);
});

test('a session at rest that is skipped after the loss keeps back a fork that was not met before', async () => {
  const { start, home, state, service, file, texts, waitForTexts } = await setUpDaemon();
  const first = await start();
  const timestamp = new Date().toISOString();
  write(file(1), `${prompt(1, 1, 'one', { timestamp })}\n`);
  await waitForTexts(1, ['one']);
  await first.end();
  const repeated = prompt(1, 1, 'one', { timestamp, sessionId: sessionId(2) });
  write(file(2), `${repeated}\n${prompt(2, 1, 'of the fork', { timestamp })}\n`);
  removeFiles(state, /^decisions\.db/);
  const variables = { CAPTURE_HOME: state };
  writeConsent({ home, variables }, { since: Date.parse(timestamp) - DAY, history: 'all' });
  const options = { home, url: service.url, secret: 'sk_live_test', variables };
  expect(await run(['skip', sessionId(1)], options)).toMatchObject({ exitCode: 0 });
  await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual([]);
});

test('after an import of one folder without any question, the daemon sends no other earlier session', async () => {
  const { start, home, service, say, file, age, texts, waitForTexts, state } = await setUpDaemon({
    consent: 'unasked',
  });
  say(1, 0, 'named');
  say(2, 0, 'earlier');
  age(file(2));
  const options = { home, url: service.url, secret: 'sk_live_test', variables: { CAPTURE_HOME: state } };
  expect(await run(['import', '--agent', 'claude-code', file(1)], options)).toMatchObject({ exitCode: 0 });
  await start();
  sayNow(file(3), 3, 'later');
  await waitForTexts(3, ['later']);
  expect(texts(2)).toEqual([]);
});
