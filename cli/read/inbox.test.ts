import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../contract/test/runs.ts';
import { cursor } from '../agents/cursor/cursor.ts';
import { takeLock } from '../lock.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading, spooledEvents } from '../test/reading.ts';
import { sortInboxes } from './inbox.ts';

const CONVERSATION = 'bbbbbbbb-1111-4222-8333-444444444444';
const START = Date.parse('2026-11-06T09:00:00.000Z') / 1000;

const event = (kind: string, more: object = {}, conversation = CONVERSATION) =>
  JSON.stringify({ conversation_id: conversation, hook_event_name: kind, ...more }, undefined, 2);

function prepare() {
  const state = makeFolder();
  const inbox = join(state, 'inbox', 'cursor');
  const logs = join(state, 'sessions', 'cursor');
  // Transcripts are elsewhere. For this test it makes no difference that they are in one folder.
  const places = [{ agent: cursor, root: logs, below: '' }];
  let now = Date.now();
  let reading = openReading(logs, join(state, 'spool.db'), { agent: cursor, state, now: () => now });
  return {
    ...{ state, inbox, logs },
    /** Leaves a note as the hook script does, at this second. */
    leave(name: string, content: string | Uint8Array, seconds: number): void {
      const path = write(join(inbox, `${name}.json`), content);
      utimesSync(path, START + seconds, START + seconds);
    },
    transcript: (conversation: string, ...lines: object[]) =>
      write(
        join(logs, 'shop', 'agent-transcripts', conversation, `${conversation}.jsonl`),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      ),
    sort: () => sortInboxes(state, places, ({ path, reason }) => expect.fail(`${path}: ${reason}`)),
    log: (name = CONVERSATION) =>
      readFileSync(join(logs, `${name}.jsonl`), 'utf8')
        .split('\n')
        .slice(0, -1),
    /** Moves the clock to a time without recent hooks. */
    later: () => {
      now += 10 * 60_000;
    },
    restart() {
      reading.spool.close();
      reading = openReading(logs, join(state, 'spool.db'), { agent: cursor, state, now: () => now });
    },
    read: () => reading.read(),
    said: (session = CONVERSATION) =>
      (spooledEvents(reading.spool).get(session) ?? []).map(({ eventType, payload }) =>
        [eventType, payload.text ?? payload.name ?? payload.kind ?? payload.raw].filter(Boolean).join(' '),
      ),
  };
}

const user = (text: string) => ({ role: 'user', message: { content: [{ type: 'text', text }] } });
const ran = (name: string) => ({ role: 'assistant', message: { content: [{ type: 'tool_use', name, input: {} }] } });

describe('the notes of hooks', () => {
  test('are sorted by time, one event per line, and are deleted', () => {
    const { leave, sort, log, inbox, logs } = prepare();
    leave('9-0', event('afterAgentResponse', { text: 'Two' }), 2);
    leave('10-0', event('beforeSubmitPrompt', { prompt: 'One' }), 1);
    leave('10-1', event('stop'), 3);
    leave('11-0', event('beforeSubmitPrompt', {}, 'other'), 1);
    sort();
    const kinds = log().map((line) => JSON.parse(line).event.hook_event_name);
    expect(kinds).toEqual(['beforeSubmitPrompt', 'afterAgentResponse', 'stop']);
    expect(JSON.parse(log()[0] ?? '')).toMatchObject({
      name: `${START + 1}000000000-10-0`,
      at: '2026-11-06T09:00:01.000Z',
    });
    expect(log('other')).toHaveLength(1);
    expect(readdirSync(inbox)).toEqual([]);
    expect(statSync(join(logs, `${CONVERSATION}.jsonl`)).mode & 0o777).toBe(0o600);
  });

  test('do not stop the others if one is invalid', async () => {
    const { state, inbox, leave, read, said } = prepare();
    leave('1-0', `{"conversation_id": "${CONVERSATION}", "deep": ${'['.repeat(60_000)}${']'.repeat(60_000)}}`, 1);
    execFileSync('mkfifo', [join(inbox, '2-0.json')]);
    mkdirSync(join(inbox, '3-0.json'));
    truncateSync(write(join(inbox, '4-0.json'), ''), 2 ** 31);
    leave('5-0', event('beforeSubmitPrompt', { prompt: 'One' }, '../../escaped'), 5);
    await read();
    expect([...said(), ...said('unreadable')].join()).toMatch(/^unreadable \{"conversation_id": ".*\[\[\[/);
    expect(readdirSync(inbox)).toEqual(['2-0.json', '3-0.json', '4-0.json']);
    expect(readdirSync(join(state, 'sessions/cursor')).filter((name) => name.endsWith('.complete'))).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}\.complete$/),
    ]);
  });

  test('are kept as text if they are not events', async () => {
    const { leave, read, said } = prepare();
    leave('1-0', '{"conversation_id": "bbbb', 1);
    leave('2-0', new Uint8Array([0xff, 0x00, 0x0a]), 2);
    leave('3-0', '[1,2]', 3);
    await read();
    expect(said('unreadable')).toEqual([
      'unreadable {"conversation_id": "bbbb',
      'record unreadable',
      'unreadable [1,2]',
    ]);
  });

  test('keep numbers that a double cannot represent', () => {
    const { leave, sort, log } = prepare();
    leave('1-0', event('stop').replace('{', '{"n": 12345678901234567890.5,'), 1);
    sort();
    expect(log()[0]).toContain('12345678901234567890.5');
  });

  test('of a conversation with an odd id never leave the folder', () => {
    const { leave, sort, logs, state } = prepare();
    leave('1-0', event('stop', {}, '../../escaped'), 1);
    sort();
    expect(readdirSync(logs)).toMatchObject([expect.stringMatching(/^[0-9a-f]{32}\.jsonl$/)]);
    expect(existsSync(join(state, 'escaped.jsonl'))).toBe(false);
  });

  test('keep the transcript from being read as well before any of them is written', () => {
    const { leave, logs, state, inbox } = prepare();
    leave('1-0', event('beforeSubmitPrompt', { prompt: 'One' }), 1);
    // Simulates a machine that stopped at the log.
    mkdirSync(join(logs, `${CONVERSATION}.jsonl`), { recursive: true });
    sortInboxes(state, [{ agent: cursor, root: logs, below: '' }], () => {});
    expect(existsSync(join(logs, `${CONVERSATION}.complete`))).toBe(true);
    expect(readdirSync(inbox)).toEqual(['1-0.json']);
  });

  test('wait while another process sorts them', () => {
    const { leave, sort, log, state } = prepare();
    leave('1-0', event('stop'), 1);
    const lock = takeLock(state, 'inbox');
    sort();
    expect(() => log()).toThrow('ENOENT');
    lock?.release();
    sort();
    expect(log()).toHaveLength(1);
  });
});

test('a crash at any moment loses nothing and captures nothing twice', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.boolean(), async (cut, isRead) => {
      const { leave, read, sort, restart, said, logs } = prepare();
      const leaveBoth = () => {
        leave('1-0', event('beforeSubmitPrompt', { prompt: 'Twice' }), 1);
        leave('2-0', event('beforeSubmitPrompt', { prompt: 'Twice' }), 2);
      };
      leave('0-0', event('sessionStart'), 0);
      if (isRead) await read();
      else sort();
      const path = join(logs, `${CONVERSATION}.jsonl`);
      const { size: start } = statSync(path);
      leaveBoth();
      sort();
      // Simulates a machine that stopped while these were written and before their notes were deleted.
      const { size } = statSync(path);
      truncateSync(path, start + (cut % (size - start + 1)));
      leaveBoth();
      restart();
      await read();
      await read();
      expect(said()).toEqual(['session.meta', 'user.message Twice', 'user.message Twice']);
    }),
    runs(10),
  );
});

describe('a transcript', () => {
  test('is read in full if no hook reported anything', async () => {
    const { transcript, read, said } = prepare();
    transcript(CONVERSATION, user('Fix it'), ran('Shell'));
    await read();
    expect(said()).toEqual(['user.message Fix it', 'tool.call Shell']);
  });

  test('is not read once a hook reported its messages, not even later ones', async () => {
    const { leave, transcript, read, later, said } = prepare();
    leave('1-0', event('beforeSubmitPrompt', { prompt: 'Fix it' }), 1);
    const path = transcript(CONVERSATION, user('Fix it'), ran('Shell'));
    await read();
    later();
    appendFileSync(path, `${JSON.stringify(user('And?'))}\n`);
    await read();
    expect(said()).toEqual(['user.message Fix it']);
  });

  test('adds messages to hooks that reported only tools, once the conversation is at rest', async () => {
    const { leave, transcript, read, later, said } = prepare();
    leave('1-0', event('postToolUse', { tool_name: 'Shell', tool_use_id: 't' }), 1);
    transcript(CONVERSATION, user('Fix it'), ran('Shell'));
    await read();
    expect(said()).toEqual(['tool.call Shell', 'tool.result']);
    later();
    await read();
    expect(said().slice(2)).toEqual(['user.message Fix it', 'record duplicate:tool_use']);
  });

  test('that was captured before the hooks existed is continued by them', async () => {
    const { leave, transcript, read, later, said } = prepare();
    const path = transcript(CONVERSATION, user('Fix it'));
    await read();
    leave('1-0', event('beforeSubmitPrompt', { prompt: 'And?' }), 1);
    appendFileSync(path, `${JSON.stringify(user('And?'))}\n`);
    later();
    await read();
    expect(said()).toEqual(['user.message Fix it', 'user.message And?']);
  });
});
