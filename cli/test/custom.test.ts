import { execFileSync } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { VOCABULARY } from '../../transcript/vocabulary.ts';
import { makeFolder } from './folder.ts';
import { run } from './program.ts';
import { startService } from './service.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/custom-agents.md', import.meta.url)), 'utf8');

test("the documentation's script creates a session", async () => {
  const service = await startService();
  const home = makeFolder();
  const folder = join(home, 'mine');
  const [, script = ''] = /```sh\n([\s\S]*?)```/.exec(PAGE) ?? [];
  execFileSync('sh', ['-c', script], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, CAPTURE_CUSTOM: folder },
  });
  const options = { home, url: service.url, secret: 'sk_live_test', variables: { CAPTURE_CUSTOM: folder } };

  expect(await run(['import', '--agent', 'custom'], options)).toMatchObject({ exitCode: 0, stderr: '' });
  const told = () => service.eventsBySession().get('nightly-42') ?? [];
  expect(told().map(({ eventType, payload }) => [eventType, payload.text ?? payload.title ?? payload.name])).toEqual([
    ['session.meta', 'Nightly triage'],
    ['user.message', 'Look through the new issues'],
    ['tool.call', 'list_issues'],
    ['tool.result', undefined],
    ['assistant.message', 'Issue 7'],
    ['assistant.message', 'Issue 7 is a duplicate.'],
    ['usage', undefined],
  ]);
  const answers = told().filter(({ eventType }) => eventType === 'assistant.message');
  const source = { agent: 'custom', agentVersion: '1.4.0', record: 'nightly-42/4' };
  expect(answers.map(({ payload }) => payload.source)).toMatchObject([
    { ...source, revision: 1 },
    { ...source, revision: 2 },
  ]);
  expect(told()[0]?.payload).toMatchObject({ cwd: home, branch: 'main' });

  appendFileSync(join(folder, 'nightly-42.jsonl'), 'no JSON\n{"type":"tool.call","callId":7}\n');
  const file = join(folder, 'nightly-42.jsonl');
  expect(await run(['import', '--agent', 'custom', file], options)).toMatchObject({ exitCode: 0 });
  expect(told().slice(7)).toMatchObject([
    { eventType: 'unreadable', payload: { raw: 'no JSON' } },
    { eventType: 'record', payload: { kind: 'tool.call', rest: { type: 'tool.call', callId: 7 } } },
  ]);
});

test('the documentation lists every field of the vocabulary and marks the required ones', () => {
  const own = ['source', 'occurredAt', 'rest', 'redactions'];
  const rows = new Map(
    [...PAGE.matchAll(/^\| `([\w.]+)` \| (.*) \|$/gm)].map(([, type, fields]) => [type, fields ?? '']),
  );
  for (const [type, { properties, required = [] }] of Object.entries(VOCABULARY)) {
    // Agents do not write `unreadable` events, and the first line of the file makes `session.meta`.
    if (type === 'unreadable' || type === 'session.meta') continue;
    const told = rows.get(type) ?? '';
    for (const name of Object.keys(properties).filter((name) => !own.includes(name)))
      expect(told, type).toContain((required as string[]).includes(name) ? `**\`${name}\`**` : `\`${name}\``);
  }
});
