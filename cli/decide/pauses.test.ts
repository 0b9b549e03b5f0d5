import { appendFileSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Agent } from '../agents/agent.ts';
import { aider } from '../agents/aider/aider.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import { cursor } from '../agents/cursor/cursor.ts';
import { geminiCli } from '../agents/gemini-cli/gemini-cli.ts';
import { goose } from '../agents/goose/goose.ts';
import { opencode } from '../agents/opencode/opencode.ts';
import { createRecordHash } from '../read/identity.ts';
import { createReader } from '../read/reader.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, spooledEvents } from '../test/reading.ts';
import { beginPause, endPauses, followClock, isActive, type Pause, type WritingTime } from './pauses.ts';
import { closedPeriodsOf, whyStays } from './periods.ts';

/** Whether a record of a session may have been written during a pause. */
const isInPause = (pauses: readonly Pause[], written: WritingTime): boolean => {
  const closed = closedPeriodsOf([{ session: 's' }], { consent: undefined, pauses, expiredUntil: () => 0 });
  const file = { startedAt: written.from, modifiedAt: written.to, isFollowed: false, writtenTo: () => written.to };
  return whyStays({ occurredAt: written.from, written, restates: false }, file, closed) !== undefined;
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.now();
const BEGUN = NOW - 5 * HOUR;
/** A pause that a person ended an hour ago. */
const PAUSE: Pause = { from: NOW - 3 * HOUR, until: NOW - HOUR, isEnded: true };

function openAfter(agent: Agent, path: string, pause = PAUSE) {
  const root = makeFolder();
  const reading = openReading(root, undefined, { agent });
  reading.spool.decisions.setPauses([pause]);
  const said = () =>
    JSON.stringify([...spooledEvents(reading.spool).values()]).match(/(before|paused|after)-\w+/g) ?? [];
  return { ...reading, file: join(root, path), said: () => [...new Set(said())] };
}

const lines = (...records: object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const timed = (text: string, time: number) => ({
  type: 'user',
  uuid: `${text}-${time}`,
  sessionId: 's',
  timestamp: new Date(time).toISOString(),
  message: { content: text },
});
const untimed = (content: string) => ({ type: 'queue-operation', content });

test('records written during a pause are not captured, and those before and after it are', async () => {
  const { file, read, said } = openAfter(claudeCode, 'project/s.jsonl');
  write(
    file,
    lines(
      timed('before-one', BEGUN),
      // The time of this record is unknown: before or during the pause.
      untimed('paused-perhaps'),
      timed('paused-two', NOW - 2 * HOUR),
      untimed('paused-three'),
      timed('after-four', NOW - 1000),
      untimed('after-five'),
      { type: 'summary', summary: 'paused-summary' },
    ),
  );
  await read();
  expect(said()).toEqual(['before-one', 'after-four', 'after-five']);
});

test('a fork does not bring back records written during a pause', async () => {
  const { file, read, said } = openAfter(claudeCode, 'project/s.jsonl');
  const copied = [timed('before-one', BEGUN), timed('paused-two', NOW - 2 * HOUR)];
  write(file, lines(...copied));
  await read();
  write(
    file.replace('s.jsonl', 't.jsonl'),
    lines(...copied, timed('after-three', NOW - 1000)).replaceAll('"sessionId":"s"', '"sessionId":"t"'),
  );
  await read();
  expect(said()).toEqual(['before-one', 'after-three']);
});

test('a session without any time that was open during a pause is no longer captured', async () => {
  const { file, read, said } = openAfter(cursor, 'project/agent-transcripts/c/c.jsonl');
  const message = (text: string) => ({ role: 'user', message: { content: [{ type: 'text', text }] } });
  // A new file is as old as its beginning, which is after the pause.
  write(file, lines(message('after-one')));
  await read();
  expect(said()).toEqual(['after-one']);
  const open = openAfter(cursor, 'project/agent-transcripts/d/d.jsonl', { from: NOW - HOUR });
  write(open.file, lines(message('paused-one')));
  await open.read();
  open.spool.decisions.setPauses(endPauses(open.spool.decisions.pauses(), Date.now() + 1));
  appendFileSync(open.file, lines(message('after-two')));
  await open.read();
  expect(open.said()).toEqual([]);
});

/** A database of OpenCode whose parts `prt_0002` and `prt_0003` belong to a message of the person. */
function openOpenCode(messageAt: number) {
  const { file, read, said } = openAfter(opencode, 'opencode.db');
  const db = new DatabaseSync(write(file, ''));
  db.exec(readFileSync(join(import.meta.dirname, '../test/agents/fixtures/opencode/opencode.sql'), 'utf8'));
  db.prepare("UPDATE message SET data = json_set(data, '$.time.created', ?) WHERE id = 'msg_0001'").run(messageAt);
  return {
    db,
    change(id: string, text: string, created: number, updated: number) {
      const { changes } = db
        .prepare('UPDATE part SET data = ?, time_created = ?, time_updated = ? WHERE id = ?')
        .run(JSON.stringify({ type: 'text', text }), created, updated, id);
      expect(changes).toBe(1);
    },
    async readTexts() {
      db.close();
      await read();
      return said();
    },
  };
}

test('a row that was begun before a pause and changed in it is not captured', async () => {
  const { change, readTexts } = openOpenCode(NOW - 1000);
  change('prt_0003', 'paused-one', BEGUN, NOW - 2 * HOUR);
  change('prt_0002', 'after-two', NOW - 1000, NOW - 1000);
  expect(await readTexts()).toEqual(['after-two']);
});

test('a fork that OpenCode makes after a pause does not bring back a prompt or the title from the pause', async () => {
  const { db, change, readTexts } = openOpenCode(NOW - 2 * HOUR);
  const fork =
    "UPDATE session SET title = 'paused-title (fork #1)', time_created = ?, time_updated = ? WHERE id = 'ses_root'";
  db.prepare(fork).run(NOW - 1000, NOW - 1000);
  change('prt_0002', 'paused-prompt', NOW - 1000, NOW - 1000);
  expect(await readTexts()).toEqual([]);
});

test('a summary that Goose makes after a pause is not captured if its session was open during the pause', async () => {
  const { file, read, said } = openAfter(goose, 'sessions.db');
  const db = new DatabaseSync(write(file, ''));
  db.exec(readFileSync(join(import.meta.dirname, '../test/agents/fixtures/goose/sessions.sql'), 'utf8'));
  const change = (id: string, text: string, seconds: number) =>
    db
      .prepare('UPDATE messages SET content_json = ?, created_timestamp = ? WHERE message_id = ?')
      .run(JSON.stringify([{ type: 'text', text }]), seconds, id);
  change('msg_20260921_1_0001', 'before-one', Math.floor(BEGUN / 1000));
  change('msg_20260921_1_0004', 'after-two', Math.floor(NOW / 1000) - 1);
  change('msg_20260921_1_0005', 'paused-summary', Math.floor(NOW / 1000) - 1);
  db.close();
  await read();
  expect(said()).toEqual(['before-one', 'after-two']);
});

test('a file read just before a pause began is read again, and records of the pause are left out', async () => {
  const { file, findWork, readWork, read, spool, said } = openAfter(claudeCode, 'project/s.jsonl');
  write(file, lines(timed('before-one', BEGUN), timed('paused-two', NOW - 100)));
  const work = findWork();
  spool.decisions.setPauses([PAUSE, { from: NOW - 200 }]);
  expect(await readWork(work)).toBe(false);
  await read();
  expect(said()).toEqual(['before-one']);
});

test('a file that has not changed since before a pause is read during it', async () => {
  const { file, read, said } = openAfter(claudeCode, 'project/s.jsonl', { from: NOW - HOUR });
  write(file, lines(timed('before-one', BEGUN), untimed('before-two')));
  utimesSync(file, (NOW - 2 * HOUR) / 1000, (NOW - 2 * HOUR) / 1000);
  await read();
  expect(said()).toEqual(['before-one', 'before-two']);
});

test('records added to a file without times after the look at it are not captured', async () => {
  const { file, findWork, readWork, read, said } = openAfter(cursor, 'project/agent-transcripts/c/c.jsonl', {
    from: NOW - HOUR,
  });
  const message = (text: string) => ({ role: 'user', message: { content: [{ type: 'text', text }] } });
  write(file, lines(message('before-one')));
  utimesSync(file, (NOW - 2 * HOUR) / 1000, (NOW - 2 * HOUR) / 1000);
  const work = findWork();
  appendFileSync(file, lines(message('paused-two')));
  await readWork(work);
  await read();
  // The time of its first record is no longer known.
  expect(said()).toEqual([]);
});

test('records added to a document after the look at it are not captured', async () => {
  const { file, findWork, readWork, read, said } = openAfter(aider, '.aider.chat.history.md', { from: NOW - HOUR });
  const started = new Date(NOW - 2 * HOUR).toISOString().slice(0, 19).replace('T', ' ');
  write(file, `# aider chat started at ${started}\n\n#### before-one\n\n> before-two\n`);
  utimesSync(file, (NOW - 2 * HOUR) / 1000, (NOW - 2 * HOUR) / 1000);
  const work = findWork();
  appendFileSync(file, '\n#### paused-three\n\n> paused-four\n\n#### paused-five\n');
  await readWork(work);
  await read();
  expect(said().filter((text) => text.startsWith('paused'))).toEqual([]);
});

test('a record that is rewritten during a pause, with its first time, is not captured', async () => {
  const { file, read, said } = openAfter(geminiCli, 'shop/chats/session-2026-01-01-s.jsonl');
  const answer = { id: 'm2', timestamp: new Date(BEGUN + 1).toISOString(), type: 'gemini', content: 'before-answer' };
  const call = { id: 'c', name: 'shell', args: {}, status: 'success', resultDisplay: 'paused-output' };
  write(
    file,
    lines(
      { sessionId: 's', projectHash: 'p', startTime: new Date(BEGUN).toISOString() },
      { id: 'm1', timestamp: new Date(BEGUN).toISOString(), type: 'user', content: 'before-prompt' },
      answer,
      { ...answer, toolCalls: [call] },
    ),
  );
  await read();
  expect(said()).toEqual(['before-prompt', 'before-answer']);
});

test("an update of a file snapshot during a pause is not captured, whatever the snapshot's time", async () => {
  const { file, read, said } = openAfter(claudeCode, 'project/s.jsonl');
  const snapshot = (name: string, isSnapshotUpdate: boolean) => ({
    type: 'file-history-snapshot',
    messageId: 'm',
    snapshot: { messageId: 'm', trackedFileBackups: { [name]: {} }, timestamp: new Date(BEGUN).toISOString() },
    isSnapshotUpdate,
  });
  write(file, lines(timed('before-one', BEGUN), snapshot('before-file', false), snapshot('paused-file', true)));
  await read();
  expect(said()).toEqual(['before-one', 'before-file']);
});

test('if the file system stores only seconds, a change in the second of a pause counts as part of it', async () => {
  const { file, read, said } = openAfter(cursor, 'project/agent-transcripts/c/c.jsonl', { from: NOW - HOUR });
  write(file, lines({ role: 'user', message: { content: [{ type: 'text', text: 'paused-one' }] } }));
  utimesSync(file, (NOW - HOUR - 900) / 1000, (NOW - HOUR - 900) / 1000);
  await read();
  expect(said()).toEqual([]);
});

test('a pause with an end ends by itself, and another one replaces it', () => {
  const pauses = beginPause([], NOW, HOUR);
  expect(pauses.map((pause) => [NOW, NOW + HOUR - 1, NOW + HOUR].map((time) => isActive(pause, time)))).toEqual([
    [true, true, false],
  ]);
  const again = beginPause(pauses, NOW + 60_000, undefined);
  expect(again.filter((pause) => isActive(pause, NOW + 2 * HOUR))).toHaveLength(1);
  expect(isInPause(endPauses(again, NOW + 2 * HOUR), { from: NOW, to: NOW })).toBe(true);
});

test('a clock that is set back during a pause neither ends it nor moves records out of it', () => {
  const at = (time: number) => ({ from: time, to: time });
  const isSetBackBy = (ms: number) => {
    const before = NOW + 2 * HOUR;
    const now = before - ms;
    const pauses = endPauses(followClock(beginPause([], NOW, undefined), now, before), now + 60_000);
    return { pauses, before, now };
  };
  const within = isSetBackBy(HOUR);
  expect(isInPause(within.pauses, at(within.before))).toBe(true);
  const behind = isSetBackBy(5 * HOUR);
  expect(isInPause(behind.pauses, at(behind.now - 1000))).toBe(true);
  expect(isInPause(behind.pauses, at(behind.before))).toBe(true);
  // A clock that was wrong by years and was corrected.
  const years = isSetBackBy(1000 * DAY);
  expect(isInPause(years.pauses, at(years.now + 2 * DAY))).toBe(false);
});

test('a pause that another look finds while a large transcript is read covers the rest of it', async () => {
  const root = makeFolder();
  const { spool } = openReading(root);
  const reader = createReader({
    spool,
    redactor: { redact: (events) => [...events] },
    hashRecord: createRecordHash(new Uint8Array(32)),
    now: () => NOW,
    newKey: () => 'key',
    patienceMs: 0,
    onTrouble: ({ path, reason }) => expect.fail(`${path}: ${reason}`),
  });
  const places = [{ agent: claudeCode, root, below: '' }];
  // More than one commit takes over.
  const large = { ...timed('before-one', BEGUN), message: { content: 'x'.repeat(5 * 1024 * 1024) } };
  write(join(root, 'project/s.jsonl'), lines(large, timed('paused-one', NOW - 2 * HOUR), timed('after-one', NOW)));
  const read = () =>
    reader.read(reader.findWork(places), {
      isStopped: () => false,
      onCommit: () => {
        spool.setPauses([PAUSE]);
        reader.findWork(places);
      },
    });
  expect(await read()).toBe(false);
  expect(await read()).toBe(true);
  const said = JSON.stringify([...spooledEvents(spool).values()]).match(/(before|paused|after)-/g);
  expect(new Set(said)).toEqual(new Set(['before-', 'after-']));
});

test('a transcript of which everything was written in a pause counts as kept back until more is written', async () => {
  const { file, read, spool } = openAfter(claudeCode, 'project/s.jsonl');
  write(file, lines(timed('paused-one', NOW - 2 * HOUR), untimed('paused-two')));
  write(file.replace('s.jsonl', 't.jsonl'), lines(timed('before-one', BEGUN)).replaceAll('"s"', '"t"'));
  await read();
  expect(spool.files.coverage()).toEqual({ captured: 1, keptBack: 1, waiting: 0 });
  appendFileSync(file, lines(timed('after-three', NOW - 1000)));
  await read();
  appendFileSync(file, lines(timed('paused-four', NOW - 2 * HOUR)));
  await read();
  expect(spool.files.coverage()).toEqual({ captured: 2, keptBack: 0, waiting: 0 });
});
