import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SEED, seeded, times } from '../../contract/test/runs.ts';
import { makeFolder } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { createRandom } from '../test/random.ts';
import { startService } from '../test/service.ts';
import { generateTranscripts } from '../test/transcripts.ts';

const TRIALS = times(2);

type Random = ReturnType<typeof createRandom>;

function overwrite(path: string, at: number, length: number, random: Random): void {
  const fd = openSync(path, 'r+');
  writeSync(
    fd,
    Uint8Array.from({ length }, () => random.below(256)),
    0,
    length,
    at,
  );
  closeSync(fd);
}

/** Each is something that disks and people do to files. */
const DAMAGES: Record<string, (path: string, random: Random) => void> = {
  'its header is gone': (path, random) => overwrite(path, 0, 100, random),
  'it is empty': (path) => truncateSync(path, 0),
  'it is missing': (path) => rmSync(path),
  'its end is missing': (path, random) => truncateSync(path, random.below(statSync(path).size)),
  'pages of it are torn': (path, random) => {
    for (let page = 0; page < 6; page++) overwrite(path, random.below(statSync(path).size - 4096), 2048, random);
  },
  'single bytes of it are others': (path, random) => {
    for (let byte = 0; byte < 40; byte++) overwrite(path, random.below(statSync(path).size), 1, random);
  },
};

test.each(Object.keys(DAMAGES))(
  `a spool is made anew from what the service has and the transcripts when %s ${seeded}`,
  async (name) => {
    const damage = DAMAGES[name] as (typeof DAMAGES)[string];
    const random = createRandom(SEED + Object.keys(DAMAGES).indexOf(name));
    const home = makeFolder();
    generateTranscripts(home, { seed: SEED, sessions: 6, records: 120 });
    const expected = await importInto(home, 'undisturbed');
    let midway = 0;

    for (let trial = 0; trial < TRIALS; trial++) {
      // Sent in part: then the service goes away.
      const limit = 2 + random.below(16);
      const isAway = () => service.state.requests.filter((request) => request.endsWith('/events')).length >= limit;
      const service = await startService({ faults: { refused: 0.5 }, random: () => (isAway() ? 0 : 1) });
      const options = {
        home,
        url: service.url,
        secret: 'sk_live_test',
        variables: { CAPTURE_HOME: `${home}/${trial}` },
      };
      await run(['import', '--patience', '0'], options);
      service.state.faults = {};
      const sent = countEvents(service.eventsBySession());
      if (sent > 0 && sent < expected.size) midway++;

      const path = join(home, String(trial), 'spool.db');
      expect(existsSync(`${path}-wal`)).toBe(false);
      damage(path, random);
      const again = await run(['import'], options);
      expect(again).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('error') });
      await service.stop();
      const captured = service.eventsBySession();
      expect({ trial, ...compare(expected.sessions, captured) }).toEqual({ trial, lost: 0, doubled: 0, moved: 0 });
      if (name !== 'single bytes of it are others' && name !== 'it is missing') {
        expect(readdirSync(join(home, String(trial))).some((file) => file.startsWith('spool.db.corrupt-'))).toBe(true);
      }
      expect(existsSync(`${path}.new`)).toBe(false);
    }
    // Else nothing was at stake.
    expect(midway).toBeGreaterThan(0);
  },
  120_000,
);

async function importInto(home: string, folder: string) {
  const service = await startService();
  onTestFinished(service.stop);
  const variables = { CAPTURE_HOME: join(home, folder) };
  const { exitCode, stderr } = await run(['import'], { home, url: service.url, secret: 'sk_live_test', variables });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const sessions = service.eventsBySession();
  return { sessions, size: countEvents(sessions) };
}

/** How many events are missing, too many, or in another place than they should be, over all sessions. */
function compare(expected: Map<string, object[]>, captured: Map<string, object[]>) {
  const counts = { lost: 0, doubled: 0, moved: 0 };
  for (const [session, events] of expected) {
    const wanted = events.map((event) => JSON.stringify(event));
    const had = (captured.get(session) ?? []).map((event) => JSON.stringify(event));
    counts.lost += wanted.filter((event) => !had.includes(event)).length;
    counts.doubled += Math.max(0, had.length - wanted.length);
    counts.moved += had.filter((event, index) => event !== wanted[index]).length;
  }
  return counts;
}

const countEvents = (sessions: Map<string, unknown[]>) => [...sessions.values()].flat().length;
