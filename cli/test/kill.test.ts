import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './folder.ts';
import { exitOf, run, start } from './program.ts';
import { createRandom } from './random.ts';
import { startService } from './service.ts';
import { generateTranscripts } from './transcripts.ts';

/** Imports from the beginning, each killed ten times. More of them with e.g. `CAPTURE_TEST_TRIALS=20`. */
const TRIALS = Number(process.env.CAPTURE_TEST_TRIALS ?? 1);
const KILLS = 10;
const SEED = Number(process.env.CAPTURE_TEST_SEED ?? 20261121);
const FAULTS = { replyLost: 0.05, refused: 0.03, unavailable: 0.05, rateLimited: 0.05, inProgress: 0.05, page: 0.02 };

test('an import that is killed again and again, against a failing service, captures each event once and in order', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: SEED, sessions: 12, records: 150 });
  const expected = await importUninterrupted(home);
  const random = createRandom(SEED);
  let midway = 0;

  for (let trial = 0; trial < TRIALS; trial++) {
    const service = await startService({ faults: FAULTS, random: random.next });
    const countEvents = () => [...service.state.sessions.values()].reduce((sum, { events }) => sum + events.length, 0);
    const variables = { CAPTURE_HOME: `${home}/trial-${trial}` };
    const options = { home, url: service.url, secret: 'sk_live_test', variables };
    for (let kill = 0; kill < KILLS; kill++) {
      const child = start(['import'], options);
      const kills = service.state.requests.length + random.below(30);
      // The first kill of a trial meets an import that has sent something; the others come at any time.
      const isDue = () => (kill === 0 ? countEvents() > 0 : service.state.requests.length >= kills);
      const isTime = () => isDue() || child.exitCode !== null;
      await Promise.race([exitOf(child), waitFor(isTime).then(() => sleep(kill === 0 ? 0 : random.below(40)))]);
      child.kill('SIGKILL');
      await exitOf(child);
      if (countEvents() > 0 && countEvents() < expected.size) midway++;
    }
    service.state.faults = {};
    expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });
    await service.stop();

    const captured = service.eventsBySession();
    expect([...captured.keys()].sort()).toEqual([...expected.sessions.keys()].sort());
    for (const [session, events] of expected.sessions) expect(captured.get(session)).toEqual(events);
  }
  // Else the kills came too early or too late to prove anything.
  expect(midway).toBeGreaterThan(0);
}, 600_000);

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(3);
}

async function importUninterrupted(home: string) {
  const service = await startService();
  onTestFinished(service.stop);
  const variables = { CAPTURE_HOME: `${home}/undisturbed` };
  const { exitCode, stderr } = await run(['import'], { home, url: service.url, secret: 'sk_live_test', variables });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  const sessions = service.eventsBySession();
  return { sessions, size: [...sessions.values()].flat().length };
}
