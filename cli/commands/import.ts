import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { takeLock } from '../lock.ts';
import { formatBytes, formatCount, type Output } from '../output.ts';
import { giveWay, openPipeline, openReader, openSender } from '../pipeline.ts';
import { createProgress } from '../progress.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { ownPlaces, placesOf } from '../read/places.ts';
import { openSpool } from '../spool/open.ts';

export interface ImportOptions {
  agent?: string;
  dryRun?: boolean;
  paths: string[];
  patienceSeconds: number;
}

export function addImport(program: Command, run: (options: ImportOptions) => Promise<void>): void {
  program
    .command('import')
    .summary('capture what the agents have written so far')
    .description('Captures the transcripts that are there, and waits until the service has acknowledged all of it.')
    .argument('[PATH...]', "files or folders; the agents' own folders by default")
    .option('--agent <id>', 'only this agent, e.g. claude-code')
    .option('--dry-run', 'read and report, but capture nothing')
    .option('--patience <seconds>', 'how long to wait for a service that does not answer', Number, 30)
    .action((paths: string[], options: { agent?: string; dryRun?: boolean; patience: number }) =>
      run({ ...options, paths, patienceSeconds: options.patience }),
    );
}

export async function runImport(context: Context, options: ImportOptions, output: Output): Promise<void> {
  const places = choosePlaces(context, options);
  const troubles: Trouble[] = [];
  const onTrouble = (trouble: Trouble) => {
    troubles.push(trouble);
    output.warn(`${trouble.path} cannot be read: ${trouble.reason}`);
  };
  if (options.dryRun) await rehearse(context, places, output, onTrouble);
  else await capture(context, places, options, output, onTrouble);
  if (troubles.length > 0) {
    throw new Failure(EXIT.failure, `${formatCount(troubles.length, 'path')} could not be read.`, 'All others were.');
  }
}

function choosePlaces(context: Context, { agent, paths }: ImportOptions): Place[] {
  const agents = context.agents.filter(({ id }) => agent === undefined || id === agent);
  if (agents.length === 0) {
    const known = context.agents.map(({ id }) => id).join(', ');
    throw new Failure(EXIT.usage, `No agent is called ${agent}.`, `Known agents: ${known}.`);
  }
  const options = { ...context, agents };
  return paths.length === 0 ? ownPlaces(options) : paths.flatMap((path) => placesOf(path, options));
}

type OnTrouble = (trouble: Trouble) => void;

async function capture(
  context: Context,
  places: Place[],
  options: ImportOptions,
  output: Output,
  onTrouble: OnTrouble,
) {
  const pipeline = await openPipeline(context);
  const { spool, folder } = pipeline;
  const before = spool.counters();
  const ending = new AbortController();
  const signal = AbortSignal.any([context.stop, ending.signal]);
  const state = { readBytes: 0, totalBytes: 0, sentEvents: 0 };
  const progress = createProgress(output.json || output.quiet ? { write() {} } : output.progress, context.now);
  const onSent = (events: number) => {
    state.sentEvents += events;
    progress.show(state);
  };

  const { gate, uploader } = openSender(context, pipeline, { signal, onSent });
  const reader = openReader(context, pipeline, spool, { patienceMs: 0, onTrouble });
  let lock = takeLock(folder, 'upload');
  let failure: unknown;
  let sending: Promise<void> | undefined;
  const send = () => {
    sending = uploader.run().catch((error: unknown) => {
      failure = error;
    });
  };
  if (lock) send();
  // Given up on the service, or told to stop.
  const isLost = () => failure !== undefined || signal.aborted || gate.failingMs() > options.patienceSeconds * 1000;

  for (let isRead = false; !isRead && !isLost(); ) {
    const work = reader.findWork(places);
    state.totalBytes = state.readBytes + work.bytes;
    isRead = await reader.read(work, {
      isStopped: isLost,
      async onCommit(bytes) {
        state.readBytes += bytes;
        progress.show(state);
        uploader.wake();
        await giveWay(spool, isLost);
      },
    });
  }

  const last = spool.batches.lastId();
  const isDone = () => (lock ? uploader.isIdle() : spool.batches.eventsUpTo(last) === 0);
  uploader.wake();
  let idleSince = context.now();
  let left = -1;
  while (!isDone() && !isLost()) {
    await sleep(20);
    // While another process sends, this one watches, and takes over should that one end.
    if (lock) continue;
    lock = takeLock(folder, 'upload');
    if (lock) send();
    const remaining = spool.batches.eventsUpTo(last);
    if (remaining !== left) idleSince = context.now();
    left = remaining;
    if (context.now() - idleSince > options.patienceSeconds * 1000) break;
    await sleep(200);
  }
  ending.abort();
  await sending;
  lock?.release();
  progress.clear();

  const remaining = spool.batches.depth();
  const after = spool.counters();
  const counts = Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, value - before[name as keyof typeof before]]),
  ) as typeof after;
  const refused = spool.batches.refused();
  spool.close();
  const unread = Math.max(0, state.totalBytes - state.readBytes);
  output.answer({ ...counts, readBytes: state.readBytes, spooled: remaining, refused }, [
    `Captured ${formatCount(counts.recordsCaptured, 'record')} (${formatBytes(state.readBytes)}), ` +
      `sent ${formatCount(counts.eventsSent, 'event')}, masked ${formatCount(counts.secretsMasked, 'secret')}.`,
    ...(counts.recordsReplayed > 0
      ? [`Skipped ${formatCount(counts.recordsReplayed, 'record')} that forks repeat from other sessions.`]
      : []),
    ...(counts.eventsRefused > 0
      ? [`The service refused ${formatCount(counts.eventsRefused, 'event')}: kept here, see \`capture status\`.`]
      : []),
  ]);
  if (failure !== undefined) throw failure;
  for (const held of uploader.held()) throw held;
  if (remaining.events > 0 || (unread > 0 && gate.failingMs() > 0)) {
    const reason = gate.lastTrouble();
    throw new Failure(
      EXIT.temporary,
      `${formatCount(remaining.events, 'event')} could not be sent yet${reason ? ` (${reason})` : ''}.`,
      'They are kept: run `capture import` again, or `capture run`, when the service is reachable.',
    );
  }
}

/** Reads into a spool that is thrown away. */
async function rehearse(context: Context, places: Place[], output: Output, onTrouble: OnTrouble): Promise<void> {
  const spool = openSpool(':memory:');
  const pipeline = { folder: stateFolder(context), settings: { url: '', secret: readSettings(context).secret ?? '' } };
  const reader = openReader(context, pipeline, spool, { patienceMs: 0, onTrouble });
  const work = reader.findWork(places);
  await reader.read(work, {
    isStopped: () => context.stop.aborted,
    onCommit: async () => spool.batches.removeAll(),
  });
  const counts = spool.counters();
  const files = work.sessions.flat().length;
  output.answer({ files, sessions: work.sessions.length, bytes: work.bytes, ...counts }, [
    `${formatCount(files, 'file')} of ${formatCount(work.sessions.length, 'session')} (${formatBytes(work.bytes)}): ` +
      `${formatCount(counts.recordsCaptured, 'record')} would become ${formatCount(counts.eventsSpooled, 'event')}, ` +
      `${formatCount(counts.secretsMasked, 'secret')} masked. Nothing was captured.`,
  ]);
  spool.close();
}
