import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount } from '../../contract/count.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { formatBytes, type Output } from '../output.ts';
import { openPipeline, type Pipeline } from '../pipeline.ts';
import { createProgress } from '../progress.ts';
import type { Place, Transcript, Trouble } from '../read/discover.ts';
import type { Progress } from '../read/reader.ts';
import { openReader } from '../reading.ts';
import { type Sending, startSending } from '../sending.ts';
import { damageOf } from '../spool/damage.ts';
import type { Deferral } from '../spool/deferrals.ts';
import type { Spool } from '../spool/open.ts';
import { reportImport } from './report.ts';

export interface CaptureOptions {
  places: readonly Place[];
  onTrouble: (trouble: Trouble) => void;
  /** How long to wait for a service that does not answer, or for another process that sends nothing. */
  patienceMs: number;
  /** Whether a person named these files and folders. They are then captured whole. */
  isNamed: boolean;
  /** Whether the sessions are over. They are then completed. */
  areOver?: boolean;
}

/** A slower request counts as not answered. */
const SLOWEST_MS = 5000;

/** Reads all transcripts, and waits until the service has acknowledged everything. */
export async function importAll(context: Context, options: CaptureOptions, output: Output): Promise<void> {
  try {
    await importWith(context, await openPipeline(context), options, output);
  } catch (error) {
    if (damageOf(error) !== 'damaged') throw error;
    output.warn('The spool is damaged. It is rebuilt from the service and the transcripts.');
    await importWith(context, await openPipeline(context), options, output);
  }
}

async function importWith(
  context: Context,
  pipeline: Pipeline,
  { places, onTrouble, patienceMs, isNamed, areOver = false }: CaptureOptions,
  output: Output,
): Promise<void> {
  const { spool } = pipeline;
  const before = spool.counters();
  const state = { readBytes: 0, totalBytes: 0, sentEvents: 0 };
  const progress = createProgress(output.progress, context.now);
  const showProgress = () => {
    const { readBytes, totalBytes, sentEvents } = state;
    const read = `read ${formatBytes(readBytes)} of ${formatBytes(totalBytes)}`;
    progress.show({ done: readBytes, total: totalBytes, text: `${read}, sent ${formatCount(sentEvents, 'event')}` });
  };
  // A person asks for it now, so no session stays deferred.
  spool.transact(() => spool.deferrals.endAll());
  const ending = new AbortController();
  const sending = startSending(context, pipeline, {
    signal: AbortSignal.any([context.stop, ending.signal]),
    // There are no live sessions here.
    orders: ['oldest'],
    timeoutMs: Math.max(patienceMs, SLOWEST_MS),
    onSent(events) {
      state.sentEvents += events;
      showProgress();
    },
  });
  const isImpatient = () => sending.failingMs() > (sending.isFailing() ? patienceMs : Math.max(patienceMs, SLOWEST_MS));
  const isLost = () => context.stop.aborted || sending.failure() !== undefined || isImpatient();

  try {
    // If nobody decided before, this very command allows everything to be sent.
    const consent = isNamed ? undefined : spool.decisions.consent();
    const reader = openReader(context, pipeline, { consent, patienceMs: 0, onTrouble });
    const reading: Progress = {
      isStopped: isLost,
      onCommit(bytes) {
        state.readBytes += bytes;
        showProgress();
        sending.wake();
      },
      isFlowing: sending.isMine,
    };
    let work = reader.findWork(places);
    const { earlier: passed } = work;
    state.totalBytes = work.bytes;
    while (!(await reader.read(work, reading)) && !isLost()) {
      work = reader.findWork(places);
      state.totalBytes = state.readBytes + work.bytes;
    }
    const isAllRead = !isLost();
    if (areOver) spool.transact(() => spool.sessions.endAll());
    await waitUntilSent(spool, sending, isLost, patienceMs);
    ending.abort();
    await sending.ended;
    progress.clear();
    const isNew = ({ agent, root, path }: Transcript) => spool.files.find(agent.id, root, path) === undefined;
    const earlier = passed.filter(isNew).length;
    const { readBytes } = state;
    reportImport(spool, before, { now: context.now(), readBytes, keptBack: work.keptBack, earlier }, output);
    const left = spool.batches.depth().events;

    const failure = sending.failure() ?? spool.deferrals.list().map(toFailure)[0];
    if (failure !== undefined) throw failure;
    if (left > 0 || !isAllRead) throw unsent(left, sending.lastTrouble(), context.stop.aborted);
    const refused = spool.counters().eventsRefused - before.eventsRefused;
    if (refused > 0) throw setAside(refused);
  } finally {
    ending.abort();
    await sending.ended;
    spool.close();
  }
}

/** Another process may be the sender and may get more to send meanwhile. Only the events that wait now count. */
async function waitUntilSent(spool: Spool, sending: Sending, isLost: () => boolean, patienceMs: number) {
  const last = spool.batches.lastId();
  let left = Number.POSITIVE_INFINITY;
  let since = performance.now();
  sending.wake();
  while (!isLost()) {
    if (sending.isMine()) {
      if (sending.isIdle()) return;
      await sleep(10);
      continue;
    }
    const remaining = spool.batches.eventsUpTo(last);
    if (remaining === 0) return;
    if (remaining < left) since = performance.now();
    left = remaining;
    if (performance.now() - since > patienceMs) return;
    await sleep(200);
  }
}

const toFailure = ({ exitCode, sentence, hint }: Deferral) => new Failure(exitCode, sentence, hint);

const setAside = (events: number) =>
  new Failure(
    EXIT.failure,
    `The service refused ${formatCount(events, 'event')}, which ${events === 1 ? 'is' : 'are'} set aside.`,
    '`capture spool retry` sends them again, for example after an update of the service.',
  );

function unsent(events: number, trouble: string | undefined, isInterrupted: boolean): Failure {
  const what = events > 0 ? `${formatCount(events, 'event')} could not be sent yet` : 'Not everything was read yet';
  const when = isInterrupted ? '' : ' when the service can be reached';
  const why = isInterrupted ? ' (interrupted)' : trouble ? ` (${trouble})` : '';
  return new Failure(EXIT.temporary, `${what}${why}.`, `Nothing is lost: \`capture import\` continues${when}.`);
}
