import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { Context } from '../context.ts';
import { type DaemonOptions, runDaemon } from '../daemon/daemon.ts';
import { createStateReport } from '../inspect/report.ts';
import { createOutput } from '../output.ts';
import { type Consent, writeConsent } from '../privacy/consent.ts';
import { ownPlaces } from '../read/places.ts';
import { makeFolder } from './folder.ts';
import { createContext, run } from './program.ts';
import { type FakeOptions, startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

/** Short intervals, so that a test does not wait minutes. */
const TIMING = { settleMs: 5, heartbeatMs: 100, restartMs: 50, refusedMs: 100, careMs: 20, deferMs: 200, absentMs: 50 };

const WAIT = { timeout: 10_000, interval: 10 };

export interface DaemonSetUp extends Partial<DaemonOptions> {
  service?: FakeOptions;
  context?: Partial<Context>;
  /** Written to the state folder before the daemon starts. */
  preferences?: object;
  /** How often the transcripts are checked for the report. */
  inspectMs?: number;
  isTTY?: boolean;
  json?: boolean;
  /** The person's consent to earlier sessions, by default to all; `unasked` if the person has not decided. */
  consent?: Consent | 'unasked';
  /** The state folder, by default one in the home. */
  state?: string;
}

/** A service, a home, and a daemon in this process. */
export async function setUpDaemon({
  service: faults = {},
  context: more = {},
  preferences,
  isTTY = false,
  json = false,
  consent = { since: 0, history: 'all' },
  inspectMs,
  ...options
}: DaemonSetUp = {}) {
  const service = await startService(faults);
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = options.state ?? join(home, 'state');
  const variables = { CAPTURE_HOME: state };
  mkdirSync(state, { recursive: true });
  if (preferences) writeFileSync(join(state, 'preferences.json'), JSON.stringify(preferences));
  const login = (secret: string) =>
    run(['login', '--secret-stdin', '--url', service.url], { home, variables, input: secret });
  await login('sk_live_test');
  if (consent !== 'unasked') writeConsent({ variables, home }, consent);

  const log = join(state, 'daemon.log');
  const starts = () => (existsSync(log) ? readFileSync(log, 'utf8').split('Capturing for').length : 1);

  /** Starts a daemon and waits until it captures. */
  async function start() {
    const stop = new AbortController();
    const before = starts();
    const { context, written } = createContext({ home, variables, isTTY, context: { stop: stop.signal, ...more } });
    const timing = { ...TIMING, ...options.timing };
    const report = createStateReport(context, inspectMs);
    const daemon = { places: ownPlaces(context), report, ...options, timing };
    const ended = runDaemon(context, daemon, createOutput(context, { json }));
    const end = async () => {
      stop.abort();
      await ended;
    };
    onTestFinished(() => end().catch(() => {}));
    await Promise.race([ended, vi.waitFor(() => expect(starts()).toBeGreaterThan(before), WAIT)]);
    return { end, ended, warnings: () => written.stderr, shown: () => written.stdout };
  }

  const file = (session: number) => join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  const texts = (session: number) =>
    (service.eventsBySession().get(sessionId(session)) ?? []).flatMap(({ payload }) => payload.text ?? []);
  return {
    ...{ service, home, state, login, start, file, texts },
    /** Adds a prompt to a session's transcript. */
    say(session: number, id: number, text: string): void {
      mkdirSync(join(file(session), '..'), { recursive: true });
      writeFileSync(file(session), `${prompt(session, id, text)}\n`, { flag: 'a' });
    },
    /** Sets a file's times back, as if it had not changed for a long time. */
    age: (path: string) => utimesSync(path, new Date(0), new Date(0)),
    waitForTexts: (session: number, expected: string[]) =>
      vi.waitFor(() => {
        if (JSON.stringify(texts(session)) !== JSON.stringify(expected))
          throw new Error(JSON.stringify(texts(session)));
      }, WAIT),
    status: async () =>
      JSON.parse((await run(['status', '--json'], { home, variables })).stdout) as Record<string, never>,
  };
}
