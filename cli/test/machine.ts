import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../context.ts';
import { pidPath } from '../daemon/control.ts';
import type { Checked } from '../inspect/finding.ts';
import { findTroubles } from '../inspect/findings.ts';
import { inspect } from '../inspect/inspect.ts';
import { takeLock } from '../lock.ts';
import { writeConsent } from '../privacy/consent.ts';
import { openSpool } from '../spool/open.ts';
import { VERSION } from '../version.ts';
import { makeFolder, write } from './folder.ts';
import { createContext, type RunOptions, run } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

export type Machine = Awaited<ReturnType<typeof setUpMachine>>;

/** A healthy machine: signed in, with hooks, a captured transcript and a running daemon. */
export async function setUpMachine() {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  const state = join(home, 'state');
  const transcript = write(
    join(home, '.claude/projects/shop', `${sessionId(1)}.jsonl`),
    `${prompt(1, 0, 'one', { cwd: join(home, 'shop') })}\n`,
  );
  const options: RunOptions = { home };
  const capture = (args: string[], more: Partial<RunOptions> = {}) => run(args, { ...options, ...more });
  await capture(['login', '--secret-stdin', '--url', service.url], { input: 'sk_live_test' });
  await capture(['init', '--yes', '--no-daemon', '--history', 'all']);
  await capture(['import']);
  let lock = takeLock(state, 'run');
  const endDaemon = () => {
    lock?.release();
    lock = undefined;
  };
  onTestFinished(endDaemon);
  const startAs = (version: string) => write(pidPath(state), `4711\n${new Date().toISOString()}\n${version}\n`);
  startAs(VERSION);
  const beginAt = (since: number) =>
    writeConsent({ home, variables: { CAPTURE_HOME: state } }, { since, history: 'all' });
  beginAt(Date.now() - HOUR_MS);
  return {
    ...{ service, home, state, transcript, capture, endDaemon, startAs, beginAt },
    /** Changes the spool as the daemon would. */
    inSpool(work: (spool: ReturnType<typeof openSpool>) => void): void {
      const spool = openSpool(join(state, 'spool.db'));
      try {
        work(spool);
      } finally {
        spool.close();
      }
    },
    async findTroubles(more: Partial<Context> = {}, freeBytes?: number): Promise<Checked[]> {
      const { context } = createContext({ home, context: more });
      return findTroubles(
        await inspect(context, freeBytes === undefined ? {} : { freeBytes: () => freeBytes }),
        context,
      );
    },
  };
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Sets a file's times back by `ms`. */
export const age = (path: string, ms: number): void =>
  utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms));

/** Writes a transcript that is not captured, with a time `ms` ago. */
export function leave({ home }: Machine, session: number, ms: number, cwd = join(home, 'shop')): string {
  const path = join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  write(path, `${prompt(session, 0, 'left', { cwd })}\n`);
  age(path, ms);
  return path;
}

/** A trouble: its name, the check that finds it, the outcome, the message, the fix, and how to cause it. */
export type Trouble = readonly [
  name: string,
  check: string,
  outcome: Checked['outcome'],
  sentence: RegExp,
  fix: RegExp,
  cause: {
    arrange?: (machine: Machine) => unknown;
    context?: Partial<Context>;
    freeBytes?: number;
  },
];

/** Causes each trouble on a healthy machine, and expects it to be reported once. */
export function testTroubles(troubles: readonly Trouble[]): void {
  test.each(troubles)('%s', async (_name, check, outcome, sentence, fix, { arrange, context, freeBytes }) => {
    const machine = await setUpMachine();
    await arrange?.(machine);
    const findings = await machine.findTroubles(context, freeBytes);
    const found = findings.filter((one) => one.check === check && one.outcome === outcome);
    expect(found.map((one) => one.sentence)).toEqual([expect.stringMatching(sentence)]);
    expect(found[0]?.fix ?? '').toMatch(fix);
  });
}
