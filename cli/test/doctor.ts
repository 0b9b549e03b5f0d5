import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../context.ts';
import { writePid } from '../daemon/pid.ts';
import { examine } from '../doctor/examine.ts';
import type { DoctorOptions } from '../doctor/facts.ts';
import type { Outcome } from '../doctor/finding.ts';
import { takeLock } from '../lock.ts';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from './folder.ts';
import { createContext, type RunOptions, run } from './program.ts';
import { startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

export type Machine = Awaited<ReturnType<typeof setUpMachine>>;

/** A machine on which all is well: signed in, hooks installed, a transcript captured, and a daemon that runs. */
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
  await capture(['init', '--yes', '--no-daemon']);
  await capture(['import']);
  let lock = takeLock(state, 'run');
  const endDaemon = () => {
    lock?.release();
    lock = undefined;
  };
  onTestFinished(endDaemon);
  writePid(state, 4711);
  return {
    ...{ service, home, state, transcript, capture, endDaemon },
    /** Changes the spool as the daemon would. */
    inSpool(work: (spool: ReturnType<typeof openSpool>) => void): void {
      const spool = openSpool(join(state, 'spool.db'));
      try {
        work(spool);
      } finally {
        spool.close();
      }
    },
    examine(more: Partial<Context> = {}, given: DoctorOptions = {}, variables: Record<string, string> = {}) {
      const { context } = createContext({ home, context: more, variables });
      return examine(context, { root: join(home, 'root'), ...given });
    },
  };
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Makes a file look as if it had not changed for so long. */
export const age = (path: string, ms: number): void =>
  utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms));

/** A transcript that was not captured, last written so long ago. */
export function leave({ home }: Machine, session: number, ms: number, cwd = join(home, 'shop')): string {
  const path = join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  write(path, `${prompt(session, 0, 'left', { cwd })}\n`);
  age(path, ms);
  return path;
}

export interface Scenario {
  name: string;
  check: string;
  outcome: Outcome;
  sentence: RegExp;
  /** What mends it; none where nothing needs to be. */
  fix: RegExp;
  arrange?(machine: Machine): unknown;
  context?(machine: Machine): Partial<Context>;
  options?: DoctorOptions;
  variables?(machine: Machine): Record<string, string>;
}

/** Makes each trouble on a machine on which all is well, and expects it to be told, once. */
export function testScenarios(scenarios: readonly Scenario[]): void {
  test.each(scenarios)('$name', async ({ check, outcome, sentence, fix, arrange, context, options, variables }) => {
    const machine = await setUpMachine();
    await arrange?.(machine);
    const examined = await machine.examine(context?.(machine), options, variables?.(machine));
    const found = examined.filter((one) => one.check === check && one.outcome === outcome);
    expect(found.map((one) => one.sentence)).toEqual([expect.stringMatching(sentence)]);
    expect(found[0]?.fix ?? '').toMatch(fix);
  });
}
