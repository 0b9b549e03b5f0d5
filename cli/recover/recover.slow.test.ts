import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AGENTS } from '../agents/all.ts';
import { runConfirmed } from '../test/confirmed.ts';
import { write } from '../test/folder.ts';
import { placeFixtures, type RealService, startRealService } from '../test/real-service.ts';
import { generateTranscripts, prompt, sessionId } from '../test/transcripts.ts';

interface Recovered {
  agent: string;
  files: { inexact: number }[];
}

const projects = ({ home }: RealService) => join(home, '.claude/projects');

const valuesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

async function capture(real: RealService, ...lines: string[]): Promise<string> {
  const path = write(join(projects(real), 'shop', `${sessionId(1)}.jsonl`), `${lines.join('\n')}\n`);
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  return path;
}

const two = [prompt(1, 0, 'one'), prompt(1, 1, 'two', { big: { list: [1, { deep: 'x' }] } })];

test('a deleted transcript comes back with all its values, and is not captured again', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const before = valuesOf(path);
  const events = await real.events();
  rmSync(join(projects(real), 'shop'), { recursive: true });
  const { exitCode, stdout } = await runConfirmed(real, ['recover', sessionId(1)]);
  expect(stdout).toContain('1 transcript written.\n');
  expect(exitCode).toBe(0);
  expect(valuesOf(path)).toEqual(before);
  expect(readdirSync(join(projects(real), 'shop'))).toEqual([`${sessionId(1)}.jsonl`]);
  await real.run('import');
  expect(await real.events()).toEqual(events);
  expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [], records: 2 });
});

test('a masked text stays masked, and nothing else changes', async () => {
  const real = await startRealService();
  const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  const path = await capture(real, prompt(1, 0, `use ${secret} here`), prompt(1, 1, 'two'));
  const [first, second] = valuesOf(path) as Record<string, unknown>[];
  rmSync(path);
  expect(await runConfirmed(real, ['recover', sessionId(1)])).toMatchObject({ exitCode: 0 });
  const content = expect.stringMatching(/^use \[REDACTED:[^\]]+\] here$/);
  expect(valuesOf(path)).toEqual([{ ...first, message: { role: 'user', content } }, second]);
  expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [] });
});

test('what the agent appends to a recovered transcript is captured, and nothing else', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const before = (await real.events()).length;
  rmSync(path);
  await runConfirmed(real, ['recover', sessionId(1)]);
  writeFileSync(path, `${prompt(1, 2, 'three')}\n`, { flag: 'a' });
  await real.run('import');
  const added = (await real.events()).slice(before);
  expect(added.map(({ payload }) => payload.text)).toEqual(['three']);
});

test('a file that is there again stays as it is, and is found by no question', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const report = async (...args: string[]) => JSON.parse((await real.run('recover', '--json', ...args)).stdout);
  expect(await report('--dry-run')).toEqual({ gone: [] });
  rmSync(path);
  expect(await report('--dry-run')).toMatchObject({ gone: [{ session: sessionId(1), files: [path] }] });
  mkdirSync(path);
  expect(await report('--dry-run')).toEqual({ gone: [] });
});

test('no link is followed to another place', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const elsewhere = join(real.home, 'elsewhere');
  mkdirSync(elsewhere);
  rmSync(join(projects(real), 'shop'), { recursive: true });
  symlinkSync(elsewhere, join(projects(real), 'shop'));
  const { exitCode, stdout } = await runConfirmed(real, ['recover', sessionId(1)]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('a link or another file is in the way');
  expect(readdirSync(elsewhere)).toEqual([]);
  expect(existsSync(path)).toBe(false);
});

test('a session that was skipped does not come back', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  rmSync(path);
  await real.run('skip', sessionId(1));
  expect(JSON.parse((await real.run('recover', '--json', '--dry-run')).stdout)).toEqual({ gone: [] });
});

test('a session that somebody deleted at the service does not come back', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const [first] = await real.events();
  rmSync(path);
  const url = `/v1/organizations/me/sessions/${first?.sessionId}`;
  expect((await real.service.call('DELETE', url, { as: real.tenant.owner })).status).toBe(200);
  const { exitCode, stdout } = await runConfirmed(real, ['recover', sessionId(1)]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('does not have it any more');
  expect(existsSync(path)).toBe(false);
});

test('without a terminal, it lists what is gone and asks nobody', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  rmSync(path);
  const { stdout, stderr, exitCode } = await real.run('recover');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(stdout).toMatch(new RegExp(`^claude-code ${sessionId(1)}  1 file .*one`));
  expect(stdout).toContain('1 captured session deleted on this machine.');
  expect(existsSync(path)).toBe(false);
});

test('a person gets only sessions that they may see', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  await real.run('visibility', sessionId(1), 'private');
  rmSync(path);
  const { exitCode, stdout } = await runConfirmed(real, ['recover', sessionId(1)], { as: real.tenant.member });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('does not have it any more, or does not show it to you');
  expect(existsSync(path)).toBe(false);
});

test('all transcripts of lines of every agent come back, and the service has everything that they contain', async () => {
  const real = await startRealService();
  placeFixtures(real.home);
  generateTranscripts(real.home, { seed: 3, sessions: 2, records: 30 });
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  const { gone: none } = JSON.parse((await real.run('recover', '--json', '--dry-run')).stdout);
  expect(none).toEqual([]);
  const events = await real.events();
  for (const agent of AGENTS)
    for (const root of agent.roots({}, real.home)) rmSync(root, { recursive: true, force: true });
  const { gone } = JSON.parse((await real.run('recover', '--json', '--dry-run')).stdout);
  const { stdout, stderr } = await runConfirmed(real, ['recover', '--json']);
  const report = JSON.parse(stdout);
  expect(stderr).toContain('confirm the code');
  expect(gone.length).toBeGreaterThan(20);
  expect(report.written).toBeGreaterThan(20);
  await real.run('import');
  expect((await real.events()).length).toBe(events.length);
  const exact = ['claude-code', 'pi', 'droid'];
  const agentOf = ({ agent }: { agent: string }) => agent;
  const { findings } = await real.verify();
  expect(findings.filter((one) => exact.includes(agentOf(one as never)))).toEqual([]);
  const inexact = report.recovered.filter((one: Recovered) => one.files.some((file) => file.inexact > 0));
  expect(inexact.filter((one: Recovered) => exact.includes(one.agent))).toEqual([]);
});

test('copies of every session can be written into a folder', async () => {
  const real = await startRealService();
  placeFixtures(real.home);
  generateTranscripts(real.home, { seed: 3, sessions: 1, records: 30 });
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  const { exitCode, stdout } = await runConfirmed(real, ['recover', '--json', '--to', 'copies']);
  expect(exitCode).toBe(0);
  const { recovered, written } = JSON.parse(stdout);
  expect(written).toBeGreaterThan(20);
  const folders = readdirSync(join(real.home, 'copies'));
  expect(folders).toEqual(expect.arrayContaining(['claude-code', 'codex', 'opencode', 'pi']));
  expect(recovered.flatMap((one: { files: object[] }) => one.files)).not.toHaveLength(0);
});

test('status counts what was deleted, and what the agent deletes soon', async () => {
  const real = await startRealService();
  const path = await capture(real, ...two);
  const other = write(join(projects(real), 'shop', `${sessionId(2)}.jsonl`), `${prompt(2, 0, 'other')}\n`);
  await real.run('import');
  const status = async () => JSON.parse((await real.run('status', '--json')).stdout);
  expect(await status()).toMatchObject({ gone: 0, expiring: 0 });
  const age = (days: number) => new Date(Date.now() - days * 86_400_000);
  utimesSync(other, age(22), age(22));
  expect(await status()).toMatchObject({ gone: 0, expiring: 0 });
  utimesSync(other, age(24), age(24));
  rmSync(path);
  expect(await status()).toMatchObject({ gone: 1, expiring: 1 });
  write(join(real.home, '.claude/settings.json'), '{"cleanupPeriodDays": 365}');
  expect(await status()).toMatchObject({ gone: 1, expiring: 0 });
  const { stdout } = await real.run('status');
  expect(stdout).toContain('Deleted       1 captured session no longer on this machine: capture recover\n');
});
