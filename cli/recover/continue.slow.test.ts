import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runConfirmed } from '../test/confirmed.ts';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startRealService } from '../test/real-service.ts';
import { prompt, sessionId, uuid } from '../test/transcripts.ts';

const there = '/home/dev/shop';

/** A session of another machine, and a machine with an empty folder. */
async function begin() {
  const real = await startRealService();
  const called = { file_path: `${there}/cart.ts`, note: `${there} is the shop` };
  const lines = [prompt(1, 0, 'one', { cwd: there }), prompt(1, 1, 'two', { cwd: there, called })];
  write(join(real.home, '.claude/projects/-home-dev-shop', `${sessionId(1)}.jsonl`), `${lines.join('\n')}\n`);
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  const [first] = await real.events();
  const home = makeFolder();
  const folder = join(home, 'code/my shop');
  mkdirSync(folder, { recursive: true });
  const here = { home, context: { hostname: 'other', folder } };
  return { real, home, folder, here, id: first?.sessionId ?? '', lines };
}

test('a session of another machine goes on here, in another folder', async () => {
  const { real, here, folder, id, home } = await begin();
  const { exitCode, stdout } = await runConfirmed(real, ['resume', id, '--json'], here);
  expect(exitCode).toBe(0);
  const { session, file, command, continues, records } = JSON.parse(stdout);
  expect({ continues, records }).toEqual({ continues: sessionId(1), records: 2 });
  expect(command).toBe(`cd '${folder}' && claude --resume ${session}`);
  expect(file).toBe(join(home, '.claude/projects', folder.replace(/[^A-Za-z0-9]/g, '-'), `${session}.jsonl`));
  const [, second] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(second).toMatchObject({
    sessionId: session,
    uuid: uuid(1, 1, 1),
    cwd: folder,
    called: { file_path: `${folder}/cart.ts`, note: `${there} is the shop` },
    message: { content: 'two' },
    forkedFrom: { sessionId: sessionId(1), messageUuid: uuid(1, 1, 1) },
  });
});

test('the continuation is captured as one: related to the original, and nothing repeated', async () => {
  const { real, here, id, lines } = await begin();
  const before = await real.events();
  const { session, file } = JSON.parse((await runConfirmed(real, ['resume', id, '--json'], here)).stdout);
  const options = { ...real.options, ...here };
  await run(['import'], options);
  expect(await real.events()).toEqual(before);
  const added = JSON.parse(prompt(1, 2, 'three'));
  const again = { ...JSON.parse(lines[1] ?? ''), sessionId: session };
  const more = [again, { ...added, sessionId: session }].map((record) => `${JSON.stringify(record)}\n`);
  writeFileSync(file, more.join(''), { flag: 'a' });
  await run(['import'], options);
  await run(['import'], options);
  const events = (await real.events()).filter(({ payload }) => payload.source.session === session);
  expect(events.map(({ payload }) => payload.text).filter(Boolean)).toEqual(['three']);
  const path = `/v1/organizations/me/session-summaries?sessionIds=${events[0]?.sessionId}`;
  const { body } = await real.service.call('GET', path, { as: real.tenant.member });
  expect(body.summaries).toMatchObject([{ forkedFrom: id }]);
});

test('a session that its person keeps private is continued by nobody else', async () => {
  const { real, here, id } = await begin();
  await real.run('visibility', sessionId(1), 'private');
  const { exitCode, stderr } = await runConfirmed(real, ['resume', id], here);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`The service has no session ${id}, or does not show you what was said in it.`);
});

test('who continues a session is noted as somebody who looked at it', async () => {
  const { real, here, id } = await begin();
  await runConfirmed(real, ['resume', id], here);
  const path = `/v1/organizations/me/sessions/${id}/views`;
  const { body } = await real.service.call('GET', path, { as: real.tenant.owner });
  expect(body.views).toMatchObject([{ kind: 'exported', surface: 'api', count: 1 }]);
});
