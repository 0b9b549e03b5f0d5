import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { Context } from '../context.ts';
import { type DaemonOptions, runDaemon } from '../daemon/daemon.ts';
import { createOutput } from '../output.ts';
import { ownPlaces } from '../read/places.ts';
import { makeFolder } from './folder.ts';
import { createContext, run } from './program.ts';
import { type FakeOptions, startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

/** Short, so that what would take minutes can be seen in a test. */
const TIMING = { settleMs: 5, heartbeatMs: 100, restartMs: 50, holdMs: 100, careMs: 20, reconsiderBeats: 2 };

const WAIT = { timeout: 10_000, interval: 10 };

export interface DaemonSetUp extends Partial<DaemonOptions> {
  service?: FakeOptions;
  context?: Partial<Context>;
  /** Written into the state folder before it starts. */
  preferences?: object;
  /** The state folder, by default one in the home. */
  state?: string;
}

/** A service, a home, and a daemon in this process. */
export async function setUpDaemon({
  service: faults = {},
  context: more = {},
  preferences,
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

  /** Starts a daemon; returns once it captures, with what ends it. */
  async function start() {
    const stop = new AbortController();
    const { context, written } = createContext({ home, variables, context: { stop: stop.signal, ...more } });
    const timing = { ...TIMING, ...options.timing };
    const daemon = { places: ownPlaces(context), ...options, timing };
    const ended = runDaemon(context, daemon, createOutput(context, {}));
    const end = async () => {
      stop.abort();
      await ended;
    };
    onTestFinished(() => end().catch(() => {}));
    await Promise.race([ended, vi.waitFor(() => expect(written.stderr).toContain('Capturing for'), WAIT)]);
    return { end, ended, warnings: () => written.stderr };
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
    /** Makes files look as if they had not changed for long. */
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
