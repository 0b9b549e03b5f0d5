import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FramedEvent } from '../../server/log/frame.ts';
import { createStateReport } from '../inspect/report.ts';
import { write } from '../test/folder.ts';
import { createContext } from '../test/program.ts';
import { placeFixtures, type RealService, startRealService } from '../test/real-service.ts';
import { generateTranscripts, prompt, sessionId } from '../test/transcripts.ts';

const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('');

/** A captured session of Claude Code. Its events are numbered like its lines, after a first fact. */
async function capture(real: RealService, ...records: string[]): Promise<string> {
  const path = write(join(real.home, '.claude/projects/shop', `${sessionId(1)}.jsonl`), lines(...records));
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  return path;
}

const one = prompt(1, 1, 'one');
const two = prompt(1, 2, 'two');
const three = prompt(1, 3, 'three');

test('no captured event of any agent is missing, and records that no reader knows are counted', async () => {
  const { home, run, verify } = await startRealService();
  placeFixtures(home);
  generateTranscripts(home, { seed: 7, sessions: 3, records: 60 });
  expect(await run('import')).toMatchObject({ exitCode: 0 });
  const report = await verify();
  expect(report).toMatchObject({ exitCode: 0, findings: [], masked: 0, history: 0, unverifiable: 0 });
  expect(report).toMatchObject({ waiting: 0, deletedFiles: 0, unreadableFiles: 0, newFiles: 0 });
  expect(report.records).toBeGreaterThan(500);
  // The generated fork, and the repetitions in the fixtures.
  expect(report.replayed).toBeGreaterThanOrEqual(60);
  const text = await run('verify');
  expect(text).toMatchObject({ exitCode: 0, stderr: '' });
  // The hand-written transcripts have a record of tomorrow for each agent.
  expect(text.stdout).toMatch(
    /^\d+ records that forks copied: .*\n(\d+ of .*: types of records that no reader knows; .*\n)+/,
  );
  expect(text.stdout).toMatch(/\n[\d,]+ records of \d+ sessions: none missing, \d+ types and fields not known\n$/);
});

test('a fork that was captured before its parent and the parent are all there, each with the shared records', async () => {
  const real = await startRealService();
  const said = { sessionId: sessionId(2), forkedFrom: { sessionId: sessionId(1) } };
  const fork = [prompt(1, 1, 'one', said), prompt(2, 9, 'another way', said)];
  write(join(real.home, '.claude/projects/shop', `${sessionId(2)}.jsonl`), lines(...fork));
  expect(await real.run('import')).toMatchObject({ exitCode: 0 });
  await capture(real, one, two);
  expect(await real.verify()).toMatchObject({ exitCode: 0, findings: [], records: 4, replayed: 0 });
});

test('only a missing event is named', async () => {
  const real = await startRealService();
  const file = await capture(real, one, two, three);
  await real.remove(1);
  const report = await real.verify();
  const position = one.length + 1;
  expect(report).toMatchObject({ exitCode: 1, records: 2, stderr: '' });
  expect(report.findings).toEqual([
    { problem: 'missing', agent: 'claude-code', session: sessionId(1), file, position, eventType: 'user.message' },
  ]);
  const { stdout, exitCode } = await real.run('verify');
  expect(exitCode).toBe(1);
  expect(stdout).toContain(`missing     claude-code ${sessionId(1)}  ${file}:${position}  user.message\n`);
  expect(stdout).toContain('2 records of 1 session: 1 event missing at the service\n');
});

test('a doubled event is named', async () => {
  const real = await startRealService();
  const file = await capture(real, one, two, three);
  await real.double(1);
  const { findings, exitCode, records } = await real.verify();
  expect({ exitCode, records }).toEqual({ exitCode: 1, records: 3 });
  const place = { file, position: one.length + 1, sequence: 3, serviceSession: expect.stringMatching(/^ses_/) };
  expect(findings).toMatchObject([{ problem: 'doubled', ...place, eventType: 'user.message' }]);
});

test('an event with another text is named, and its text is never shown', async () => {
  const real = await startRealService();
  await capture(real, one, prompt(1, 2, 'two', { extra: { list: [1, { deep: 'private' }] } }), three);
  await real.alter(1, (payload) => {
    payload.rest.extra.list[1].deep = 'other';
  });
  const { findings, stderr } = await real.verify();
  expect(findings).toMatchObject([{ problem: 'different', sequence: 2 }]);
  expect(JSON.stringify(findings) + stderr).not.toMatch(/private|other/);
});

test('an event of another type is a difference, and one of another record or session is a different event', async () => {
  const real = await startRealService();
  await capture(real, one, two, three);
  await real.change(0, (events, index) =>
    events.with(index, { ...(events[index] as FramedEvent), eventType: 'notice' }),
  );
  await real.alter(1, ({ source }) => {
    source.record = 'another';
  });
  await real.alter(2, ({ source }) => {
    source.session = 'another';
  });
  const { findings } = await real.verify();
  expect(findings.map(({ problem }) => problem)).toEqual(['different', 'missing', 'missing', 'surplus', 'surplus']);
});

test('events in another order than their file are named', async () => {
  const real = await startRealService();
  await capture(real, one, two, three, prompt(1, 4, 'four'));
  await real.change(1, (events, index) => {
    const [event] = events.splice(index, 1);
    return [...events, event as FramedEvent];
  });
  const { findings, exitCode } = await real.verify();
  expect(exitCode).toBe(1);
  expect(findings).toMatchObject([{ problem: 'disordered', position: one.length + 1, sequence: 4 }]);
});

test('an event that no transcript contains is named', async () => {
  const real = await startRealService();
  await capture(real, one, two);
  const said = (payload: object) => ({ eventType: 'notice', payload: Buffer.from(JSON.stringify(payload)) });
  const [first] = await real.events();
  const unsaid = said({ ...first?.payload, text: 'never said', source: { ...first?.payload.source, position: 7 } });
  await real.change(1, (events) => [...events, unsaid, said({ text: 'by hand' })]);
  const { findings } = await real.verify();
  expect(findings).toMatchObject([
    { problem: 'surplus', sequence: 3, position: 7 },
    { problem: 'surplus', sequence: 4, eventType: 'notice' },
  ]);
});

test('a payload in parts is compared part by part', async () => {
  const real = await startRealService();
  const text = 'ü"\n'.repeat(150_000);
  await capture(real, prompt(1, 1, text), two);
  const stored = await real.events();
  expect(stored.length).toBeGreaterThan(4);
  expect(await real.verify()).toMatchObject({ exitCode: 0, records: 2 });

  const back = await real.remember();
  await real.alter(1, (payload) => {
    payload.json = payload.json.replace('ü', 'u');
  });
  expect((await real.verify()).findings).toMatchObject([
    { problem: 'different', part: `2 of ${stored.length - 1}`, sequence: 2 },
  ]);
  await back();
  await real.remove(1);
  expect((await real.verify()).findings).toMatchObject([{ problem: 'missing', part: `2 of ${stored.length - 1}` }]);
  await back();
  await real.double(1);
  expect((await real.verify()).findings).toMatchObject([{ problem: 'doubled', part: `2 of ${stored.length - 1}` }]);
});

test('the result for the whole machine is reported to the service, and an admin sees it', async () => {
  const real = await startRealService();
  await capture(real, one, two, three);
  const health = async () => {
    const { body } = await real.service.call('GET', '/v1/organizations/me/machine-health', { as: real.owner });
    return body.machines[0];
  };
  const told = await real.run('verify', '--all');
  expect(told).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('The result was reported') });
  const comparison = { comparedAt: expect.any(String), sessions: 1, records: 3, problems: [] };
  expect(await health()).toMatchObject({ comparison, coverage: { captured: 1, keptBack: 0, waiting: 0 }, gaps: [] });

  await real.remove(1);
  write(
    join(real.home, '.codex/sessions/2026/11/20', `rollout-2026-11-20T09-00-00-${sessionId(7)}.jsonl.zip`),
    'packed',
  );
  expect(await real.run('verify', '--all')).toMatchObject({ exitCode: 1 });
  const problems = [
    { problem: 'missing', count: 1 },
    { problem: 'unread', count: 1 },
  ];
  const after = await health();
  expect(after).toMatchObject({ comparison: { ...comparison, records: 2, problems } });
  expect(after.gaps).toEqual([{ kind: 'ending', agent: 'codex', count: 1 }]);
  // The daemon's later reports and a comparison of single sessions keep it.
  await real.run('verify', '--since', '1d');
  const { context } = createContext(real.options);
  expect((await createStateReport(context)(undefined)).comparison).toEqual(after.comparison);
});

test('the comparison of a whole machine cannot be limited', async () => {
  const real = await startRealService();
  for (const limit of [['--since', '7d'], ['--agent', 'codex'], ['abc']]) {
    expect(await real.run('verify', '--all', ...limit)).toMatchObject({ exitCode: 2 });
  }
});
