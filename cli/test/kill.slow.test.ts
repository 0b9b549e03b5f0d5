import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { chainStart } from '../../contract/chain.ts';
import { saltKeysOf } from '../../contract/salts.ts';
import { headAfter } from '../../contract/test/heads.ts';
import { patience, SEED, seeded, times } from '../../contract/test/runs.ts';
import { aider } from '../agents/aider/aider.ts';
import { AGENTS } from '../agents/all.ts';
import { openSpool } from '../spool/open.ts';
import { groupByFile } from './by-file.ts';
import { makeFolder, write } from './folder.ts';
import { run, start } from './program.ts';
import { createRandom } from './random.ts';
import { expectSame } from './same.ts';
import { type FakeSession, startService } from './service.ts';
import { stagesOf } from './stages.ts';
import { generateTranscripts } from './transcripts.ts';
import { type CorpusFile, eventsOf, writtenFiles } from './worlds.ts';

/** The number of imports from the beginning, each killed `KILLS` times. */
const TRIALS = times(1);
const KILLS = Math.min(10, times(10));
const FAULTS = { replyLost: 0.05, refused: 0.03, unavailable: 0.05, rateLimited: 0.05, inProgress: 0.05, page: 0.02 };

test(
  `a repeatedly killed import to a failing service captures each event once and in order ${seeded}`,
  async () => {
    const home = makeFolder();
    generateTranscripts(home, { seed: SEED, sessions: 12, records: 500 });
    const expected = await importUninterrupted(home);
    const random = createRandom(SEED);
    let midway = 0;

    for (let trial = 0; trial < TRIALS; trial++) {
      const service = await startService({ faults: FAULTS, random: random.next });
      const countEvents = () =>
        [...service.state.sessions.values()].reduce((sum, { events }) => sum + events.length, 0);
      const variables = { CAPTURE_HOME: `${home}/trial-${trial}` };
      const options = { home, url: service.url, secret: 'sk_live_test', variables };
      for (let kill = 0; kill < KILLS; kill++) {
        const child = start(['import'], options);
        const kills = service.state.requests.length + random.below(30);
        // The first kill of a trial waits until the import has sent events; the others come at any time.
        const isDue = () => (kill === 0 ? countEvents() > 0 : service.state.requests.length >= kills);
        const isTime = () => isDue() || !child.isRunning();
        await Promise.race([child.ended, waitFor(isTime).then(() => sleep(kill === 0 ? 0 : random.below(40)))]);
        await child.end('SIGKILL');
        if (countEvents() > 0 && countEvents() < expected.size) midway++;
      }
      service.state.faults = {};
      expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });
      await service.stop();

      const captured = service.eventsBySession();
      expect([...captured.keys()].sort()).toEqual([...expected.sessions.keys()].sort());
      for (const [session, events] of expected.sessions) expect(captured.get(session)).toEqual(events);
      expectChains(variables.CAPTURE_HOME, [...service.state.sessions.values()]);
    }
    // Otherwise all kills came too early or too late to prove anything.
    expect(midway).toBeGreaterThan(0);
  },
  patience(600_000),
);

test(`growing sessions of every agent give the same events although their import is repeatedly killed ${seeded}`, async () => {
  const home = makeFolder();
  // Aider keeps its transcripts in the project's folder, so a plain import does not find them.
  const files = writtenFiles().filter(({ agent, path }) => agent !== aider && agent.isTranscript(path));
  expect(new Set(files.map(({ agent }) => agent))).toEqual(new Set(AGENTS.filter((agent) => agent !== aider)));
  const random = createRandom(SEED);
  // An agent copies records into a fork when it has written them. So a fork appears as a whole, together with their last part.
  const layOut = (folder: string, steps: number) =>
    files.map((file) => {
      const grown = stagesOf(file, placeIn(folder, file), isFork(file) ? 1 : steps, random);
      return [...Array<undefined>(steps - grown.length), ...grown];
    });

  const undisturbed = join(home, 'undisturbed');
  for (const [stage] of layOut(undisturbed, 1)) stage?.();
  const whole = await startService();
  onTestFinished(whole.stop);
  // Use the same key in both homes, so that redaction marks are equal.
  write(join(undisturbed, 'state', 'redaction.key'), Buffer.alloc(32, 1));
  const first = { home: undisturbed, url: whole.url, secret: 'sk_live_test', variables: variablesIn(undisturbed) };
  expect(await run(['import'], first)).toMatchObject({ exitCode: 0 });

  const service = await startService({ faults: FAULTS, random: random.next });
  onTestFinished(service.stop);
  write(join(home, 'state', 'redaction.key'), Buffer.alloc(32, 1));
  const options = { home, url: service.url, secret: 'sk_live_test', variables: variablesIn(home) };
  const stages = layOut(home, GROWTHS);
  let killed = 0;
  for (let step = 0; step < GROWTHS; step++) {
    for (const stage of stages) stage[step]?.();
    const before = service.state.requests.length;
    const child = start(['import'], options);
    // Kill every other import while it reads, soon after its first request; kill the others while they send.
    const [requests, delay] = step % 2 === 0 ? [1, random.below(250)] : [2 + random.below(20), 0];
    await waitFor(() => service.state.requests.length >= before + requests || !child.isRunning());
    await sleep(delay);
    if ((await child.end('SIGKILL')) === 'SIGKILL') killed++;
  }
  expect(killed).toBeGreaterThan(0);
  service.state.faults = {};
  expect(await run(['import'], options)).toMatchObject({ exitCode: 0 });

  const [captured, expected] = [service, whole].map((each) =>
    groupByFile([...each.eventsBySession().values()].flat() as Stored[]),
  );
  expect([...(captured?.keys() ?? [])].sort()).toEqual([...(expected?.keys() ?? [])].sort());
  expect(files.flatMap((file) => eventsOf(file, expected ?? new Map())).length).toBeGreaterThan(200);
  for (const file of files)
    expectSame(file, eventsOf(file, captured ?? new Map()), eventsOf(file, expected ?? new Map()));
});

const isFork = ({ kind, from }: CorpusFile) =>
  kind === 'lines' && /"(parentSession|forked_?from\w*)":/i.test(readFileSync(from, 'utf8'));

/** Checks that the machine's hash chain of each session matches the service's events. */
function expectChains(state: string, sessions: readonly FakeSession[]): void {
  const [name = ''] = readdirSync(state).filter((file) => /^spool.*\.db$/.test(file));
  const spool = openSpool(join(state, name));
  try {
    for (const { sessionId, body, chainKey, events } of sessions) {
      const start = chainStart(String(body.agentId), String(body.clientKey));
      const sent = events.map(({ eventType, payload }) => ({ eventType, payload: JSON.stringify(payload) }));
      const head = headAfter(start, sent, saltKeysOf(chainKey));
      expect(spool.chains.find(sessionId)).toMatchObject({ start: start.hash, head });
    }
  } finally {
    spool.close();
  }
}

type Stored = Parameters<typeof groupByFile>[0][number];

const GROWTHS = Math.min(8, times(8));

const variablesIn = (home: string) => ({ CAPTURE_HOME: join(home, 'state'), CAPTURE_CUSTOM: join(home, 'custom') });

/** The agent's own path of a file. Cline has several folders, so the paths of its fixtures begin with the folder's name. */
function placeIn(home: string, { agent, path }: CorpusFile): string {
  const roots = agent.roots(variablesIn(home), home);
  const [folder = '', ...below] = path.split('/');
  const named = roots.find((root) => basename(root) === folder && agent.id === 'cline');
  return named === undefined ? join(roots[0] ?? '', path) : join(named, ...below);
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(3);
}

async function importUninterrupted(home: string) {
  const service = await startService();
  onTestFinished(service.stop);
  const variables = { CAPTURE_HOME: `${home}/undisturbed` };
  const { exitCode, stderr } = await run(['import', '--quiet'], {
    home,
    url: service.url,
    secret: 'sk_live_test',
    variables,
  });
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  const sessions = service.eventsBySession();
  return { sessions, size: [...sessions.values()].flat().length };
}
