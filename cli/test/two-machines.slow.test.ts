import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { patience } from '../../contract/test/runs.ts';
import { writeConsent } from '../privacy/consent.ts';
import { makeFolder, write } from './folder.ts';
import { run, start } from './program.ts';
import { type RealService, type StoredEvent, startRealService } from './real-service.ts';
import { generateTranscripts, mode, prompt, sessionId } from './transcripts.ts';

test('a session that moves to another machine and back is captured once and in order', async () => {
  const { home, options, events } = await startRealService();
  const file = join(home, '.claude/projects/p', `${sessionId(1)}.jsonl`);
  const on = (state: string) => ({ ...options, variables: { CAPTURE_HOME: state } });
  // Each machine has its own state and the same transcript.
  const machines = [on(makeFolder()), on(makeFolder())];
  const said: string[] = [];
  write(file, '');
  for (let turn = 0; turn < 6; turn++) {
    said.push(`turn ${turn}`);
    // The second record has no key, so it may be repeated legitimately.
    appendFileSync(file, `${prompt(1, turn, `turn ${turn}`)}\n{"type":"queue-operation","operation":"enqueue"}\n`);
    expect(await run(['import'], machines[turn % 2] as (typeof machines)[number])).toMatchObject({ exitCode: 0 });
  }
  const stored = await events();
  expect(stored.flatMap(({ payload }) => payload.text ?? [])).toEqual(said);
  expect(stored).toHaveLength(2 * said.length);
  expect(new Set(stored.map(({ sessionId }) => sessionId)).size).toBe(1);
});

const elsewhere = ({ options }: RealService) => ({ ...options, variables: { CAPTURE_HOME: makeFolder() } });

/** The positions of each file's events, in the service's order. */
function positionsByFile(events: readonly StoredEvent[]): Map<string, string[]> {
  const byFile = Map.groupBy(events, ({ payload }) => `${payload.source.session} ${payload.source.file}`);
  const sorted = [...byFile].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    sorted.map(([file, ofFile]) => [
      file,
      ofFile.map(({ payload: { source, part } }) => `${source.position} ${source.index ?? 0} ${part ?? 0}`),
    ]),
  );
}

test(
  'three concurrent imports of the same transcripts capture them once and in order',
  async () => {
    const alone = await startRealService();
    generateTranscripts(alone.home, { seed: 3, sessions: 12, records: 300 });
    expect(await alone.run('import')).toMatchObject({ exitCode: 0 });
    const both = await startRealService();
    generateTranscripts(both.home, { seed: 3, sessions: 12, records: 300 });
    const children = [1, 2, 3].map(() => start(['import'], elsewhere(both)));
    for (const child of children) expect(await child.ended, child.output()).toBe(0);
    expect(positionsByFile(await both.events())).toEqual(positionsByFile(await alone.events()));
  },
  patience(120_000),
);

test(
  'two daemons watching the same growing transcripts capture them once and in order',
  async () => {
    const real = await startRealService();
    const file = (session: number) => join(real.home, '.claude/projects/p', `${sessionId(session)}.jsonl`);
    for (const session of [1, 2, 3]) write(file(session), '');
    const states = [elsewhere(real), elsewhere(real)];
    const children = states.map((options) => {
      writeConsent({ home: real.home, variables: options.variables }, { since: 0, history: 'all' });
      return start(['run'], options);
    });
    const end = async () => void (await Promise.all(children.map((child) => child.end('SIGTERM'))));
    onTestFinished(end);
    for (const child of children) await vi.waitFor(() => expect(child.output()).toContain('Capturing'), 30_000);
    const written = new Map<string, number>();
    for (let turn = 0; turn < 30; turn++) {
      for (const session of [1, 2, 3]) {
        appendFileSync(file(session), `${prompt(session, turn, `turn ${turn}`)}\n${mode(session)}\n`);
        written.set(sessionId(session), 2 * (turn + 1));
      }
      const hasArrived = async () => expect((await real.events()).length).toBeGreaterThanOrEqual(6 * (turn + 1));
      await vi.waitFor(hasArrived, { timeout: 60_000, interval: 20 });
    }
    // Import the records that a daemon has not captured yet.
    await end();
    for (const options of states) expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });
    const events = await real.events();
    const counts = Map.groupBy(events, ({ payload }) => payload.source.session as string);
    expect(new Map([...counts].sort().map(([session, of]) => [session, of.length]))).toEqual(written);
  },
  patience(180_000),
);
