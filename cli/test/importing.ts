import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeFolder, write } from './folder.ts';
import { type RunOptions, run } from './program.ts';
import { type FakeOptions, startService } from './service.ts';
import { prompt, sessionId } from './transcripts.ts';

/** A machine with transcripts, and the service that receives their import. */
export async function setUpImports(options: FakeOptions = {}) {
  const service = await startService(options);
  onTestFinished(service.stop);
  const home = makeFolder();
  const file = (session: number) => join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  return {
    service,
    home,
    /** Rewrites a session's file with prompts of the given texts. */
    write(session: number, texts: string[], more: object = {}) {
      write(file(session), texts.map((text, id) => `${prompt(session, id, text, more)}\n`).join(''));
      // The time of the last write also counts as activity.
      const written = new Date('2026-03-01T09:05:00.000Z');
      utimesSync(file(session), written, written);
    },
    capture: (args: string[] = [], more: Partial<RunOptions> = {}) =>
      run(['import', '--patience', '0', ...args], { home, url: service.url, secret: 'sk_live_test', ...more }),
    texts: (session: number) =>
      (service.eventsBySession().get(sessionId(session)) ?? []).flatMap(({ payload }) => payload.text ?? []),
    sessions: () => [...service.state.sessions.values()],
  };
}
