import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Context } from '../context.ts';
import { writePid } from '../daemon/pid.ts';
import { examine } from '../doctor/examine.ts';
import type { DoctorOptions } from '../doctor/facts.ts';
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
