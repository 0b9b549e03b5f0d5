import { formatCount } from '../../contract/count.ts';
import { locateSpool } from '../account.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { formatBytes, type Output } from '../output.ts';
import type { Place, Trouble } from '../read/discover.ts';
import type { KeptBack } from '../read/reader.ts';
import { openReader } from '../reading.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refusals.ts';
import { earlierLine } from './report.ts';

export interface RehearseOptions {
  places: readonly Place[];
  onTrouble: (trouble: Trouble) => void;
  /** Whether a person named these files and folders. They are then captured whole. */
  isNamed: boolean;
  /** Whether to print the events as they would be sent, one per line, with secrets masked. */
  show: boolean;
}

/** Reads the files of an import into a temporary spool, and shows what would leave the machine. */
export async function rehearse(
  context: Context,
  { places, onTrouble, isNamed, show }: RehearseOptions,
  output: Output,
) {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const spool = openSpool(':memory:');
  const path = locateSpool(context);
  if (path !== undefined) spool.copyCursors(path);
  spool.copyDecisions(folder);
  const consent = isNamed ? undefined : spool.decisions.consent();
  const reader = openReader(context, { folder, settings, spool }, { consent, patienceMs: 0, onTrouble });
  const work = reader.findWork(places);
  const events = new Map<number, number>();
  await reader.read(work, {
    isStopped: () => context.stop.aborted,
    onCommit() {
      for (const { session, batch } of batchesOf(spool)) {
        events.set(session, (events.get(session) ?? 0) + batch.events);
        if (show) for (const event of readEvents(batch)) context.stdout.write(`${event}\n`);
      }
      spool.batches.removeAll();
    },
  });
  const counts = spool.counters();
  const files = work.sessions.flat().length;
  const sessions = [...events].map(([id, count]) => describeSession(spool, id, count));
  const numbers =
    `${formatCount(files, 'file')} of ${formatCount(work.sessions.length, 'session')} (${formatBytes(work.bytes)}): ` +
    `${formatCount(counts.recordsCaptured, 'record')} would become ${formatCount(counts.eventsSpooled, 'event')}, ` +
    `${formatCount(counts.secretsMasked, 'secret')} masked.`;
  const summary = `${files === 0 ? 'Nothing is new: everything that may be captured was captured before.' : numbers} Nothing was captured.`;
  if (show) output.say(summary);
  else {
    const report = { files, sessions: work.sessions.length, bytes: work.bytes, ...counts };
    const earlier = work.earlier.length;
    output.answer({ ...report, perSession: sessions, keptBack: work.keptBack, earlier }, [
      ...sessions.map(({ agent, title, cwd, events: count }) =>
        [agent.padEnd(12), formatCount(count, 'event').padStart(14), title ?? 'untitled', cwd ?? '']
          .join('  ')
          .trimEnd(),
      ),
      ...earlierLine(earlier),
      ...describeKeptBack(work.keptBack),
      summary,
    ]);
  }
  spool.close();
}

/** How many sessions are kept back for each reason, with their files. */
function describeKeptBack(keptBack: readonly KeptBack[]): string[] {
  return [...Map.groupBy(keptBack, ({ reason }) => reason)].flatMap(([reason, files]) => {
    const sessions = new Set(files.map(({ agent, session }) => `${agent} ${session}`));
    return [`Kept back ${formatCount(sessions.size, 'session')}: ${reason}`, ...files.map(({ path }) => `  ${path}`)];
  });
}

function* batchesOf(spool: Spool) {
  for (const session of spool.batches.perSession().map((one) => one.session)) {
    for (const batch of spool.batches.ofSession(session)) {
      yield { session, batch };
    }
  }
}

function describeSession(spool: Spool, id: number, events: number) {
  const { agent, agentSession, title, prompt, cwd } = spool.sessions.get(id);
  const name = title ?? prompt;
  return { agent, session: agentSession, events, ...(name && { title: name }), ...(cwd && { cwd }) };
}
