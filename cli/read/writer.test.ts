import { join } from 'node:path';
import { expect, test } from 'vitest';
import { geminiCli } from '../agents/gemini-cli.ts';
import { makeFolder, write } from '../test/folder.ts';
import { openReading } from '../test/reading.ts';

test('a session has the folder that its agent tells to the model alone, masked like all the rest', async () => {
  const root = makeFolder();
  const text = '<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /home/dev/hunter2\n';
  const lines = [
    { sessionId: 's1', projectHash: 'h', startTime: '2026-11-06T09:00:00.000Z', kind: 'main' },
    { $set: { messages: [{ id: '0', type: 'user', content: [{ text }] }] } },
  ];
  write(join(root, 'p/chats/session-t-s1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const learned: string[] = [];
  const mask = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value).replaceAll('hunter2', 'MASKED'));
  const reading = openReading(root, ':memory:', {
    agent: geminiCli,
    redactor: { redact: mask, learn: (folder) => learned.push(folder) },
  });
  await reading.read();
  expect(reading.spool.sessions.list()).toMatchObject([{ agentSession: 's1', cwd: '/home/dev/MASKED' }]);
  expect(learned).toEqual(['/home/dev/hunter2']);
  reading.spool.close();
});
