import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './folder.ts';
import { exitOf, run, start } from './program.ts';
import { createRandom } from './random.ts';
import { startService } from './service.ts';
import { generateTranscripts } from './transcripts.ts';

/** More of them with e.g. `CAPTURE_TEST_KILLS=200`. */
const ROUNDS = Number(process.env.CAPTURE_TEST_KILLS ?? 12);
const SEED = Number(process.env.CAPTURE_TEST_SEED ?? 20261121);

test('an import that is killed again and again, against a failing service, captures each event once and in order', async () => {
  const home = makeFolder();
  generateTranscripts(home, { seed: SEED, sessions: 12, records: 120 });
  const expected = await importUninterrupted(home);

  const random = createRandom(SEED);
  const faults = { replyLost: 0.05, refused: 0.03, unavailable: 0.05, rateLimited: 0.05, inProgress: 0.05, page: 0.02 };
  const service = await startService({ faults, random: random.next });
  onTestFinished(service.stop);
  const options = { home, url: service.url, secret: 'sk_live_test' };
  let killed = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const child = start(['import'], options);
    await Promise.race([exitOf(child), sleep(250 + random.below(900))]);
    if (child.kill('SIGKILL')) killed++;
    await exitOf(child);
  }
  service.state.faults = {};
  const last = await run(['import'], options);

  expect(last).toMatchObject({ exitCode: 0 });
  expect(killed).toBeGreaterThan(ROUNDS / 4);
  const captured = service.eventsBySession();
  expect([...captured.keys()].sort()).toEqual([...expected.keys()].sort());
  for (const [session, events] of expected) expect(captured.get(session)).toEqual(events);
}, 300_000);

async function importUninterrupted(home: string) {
  const service = await startService();
  onTestFinished(service.stop);
  const variables = { CAPTURE_HOME: `${home}/undisturbed` };
  const { exitCode, stderr } = await run(['import'], { home, url: service.url, secret: 'sk_live_test', variables });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return service.eventsBySession();
}
