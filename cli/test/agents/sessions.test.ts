import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Agent, JsonObject } from '../../agents/agent.ts';
import { AGENTS } from '../../agents/all.ts';
import { claudeCode } from '../../agents/claude-code/claude-code.ts';
import { cline } from '../../agents/cline/cline.ts';
import { codex } from '../../agents/codex/codex.ts';
import { copilotCli } from '../../agents/copilot-cli/copilot-cli.ts';
import { cursor } from '../../agents/cursor/cursor.ts';
import { qwenCode } from '../../agents/qwen-code/qwen-code.ts';
import { makeFolder, write } from '../folder.ts';
import { openReading } from '../reading.ts';

const A = '11111111-2222-4333-8444-555555555555';
const B = '22222222-3333-7444-8555-666666666666';

const lines = (...records: JsonObject[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');

test.each([claudeCode, qwenCode])(
  'files with the same name in several folders belong to the sessions that their records name: $id',
  async (agent) => {
    const folder = makeFolder();
    const placeOf = (session: string, text: string) => {
      // The first record of a file need not name the session.
      const records = [{ type: 'file-history-snapshot' }, { type: 'user', uuid: A, sessionId: session, message: text }];
      const path = write(join(folder, text, 'full.jsonl'), lines(...records));
      return { agent, root: join(path, '..'), below: 'full.jsonl', isNamed: true };
    };
    const { spool, read } = openReading(folder, ':memory:', { places: [placeOf(A, 'one'), placeOf(B, 'two')] });
    await read();
    const found = [1, 2].map((session) => spool.sessions.get(session)?.agentSession);
    expect(found.sort()).toEqual([A, B]);
  },
);

const command = (text: string) => ({ type: 'user', message: { content: `<command-name>${text}</command-name>` } });

test.each<[agent: Agent, record: JsonObject, isEnd: boolean]>([
  [claudeCode, command('/exit'), true],
  [claudeCode, command('/quit'), true],
  [claudeCode, command('/clear'), false],
  [claudeCode, { type: 'user', message: { content: 'How does <command-name>/exit</command-name> work?' } }, false],
  [copilotCli, { type: 'session.shutdown', data: {} }, true],
  [copilotCli, { type: 'session.resume', data: {} }, false],
  [codex, { type: 'event_msg', payload: { type: 'shutdown_complete' } }, true],
  [codex, { type: 'event_msg', payload: { type: 'task_complete' } }, false],
  [cursor, { name: 'n', event: { hook_event_name: 'sessionEnd' } }, true],
  [cursor, { name: 'n', event: { hook_event_name: 'stop' } }, false],
  [cline, { status: 'completed', ended_at: '2026-11-06T09:00:00.000Z' }, true],
  [cline, { status: 'running', ended_at: null }, false],
])('an end of the session is recognized in the record of $id: %j', (agent, record, isEnd) => {
  expect(agent.endsSession?.(record)).toBe(isEnd);
});

test('agents that name sessions by a time or a counter have local ids', () => {
  const local = AGENTS.filter(({ hasLocalIds }) => hasLocalIds).map(({ id }) => id);
  expect(local.sort()).toEqual(['aider', 'cline', 'custom', 'goose', 'kilo', 'roo-code']);
});

test('ids and display names of agents are unique', () => {
  for (const key of ['id', 'displayName'] as const) {
    const names = AGENTS.map((agent) => agent[key]);
    expect(names).toEqual([...new Set(names)]);
  }
});
