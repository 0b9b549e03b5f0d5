import { copyFileSync, existsSync, linkSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { EXIT, Failure } from '../failure.ts';
import { takeLock } from '../lock.ts';
import { damageOf } from './damage.ts';
import { readJournal } from './journal.ts';
import { openFile, openSpool, putRebuiltInPlace, rebuiltPath, type Spool } from './open.ts';
import { type Salvage, type SalvagedBatch, salvage } from './salvage.ts';
import { unpackTags } from './tags.ts';

export interface RebuildOptions {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Whether what waits in it is meant for the account that opens it. */
  isOwn: () => boolean;
  /** Whether there was an error that told of damage. */
  isSuspect: boolean;
}

/** Opens a spool, which is made anew if it is damaged. */
export function openOrRebuild(path: string, options: RebuildOptions): Spool {
  try {
    return openSpool(path, { examine: options.isSuspect ? 'thoroughly' : 'quickly' });
  } catch (error) {
    if (damageOf(error) !== 'damaged') throw error;
    rebuildSpool(path, options);
    return openSpool(path);
  }
}

/**
 * Makes a damaged spool anew. The transcripts will be read again from their beginning; what the service has of them is known
 * from the journal, and what waited to be sent is taken over as far as it is intact. The damaged file is kept.
 */
function rebuildSpool(path: string, { now, isOwn }: Pick<RebuildOptions, 'now' | 'isOwn'>): void {
  const isOwner = isOwn();
  const lock = takeLock(dirname(path), basename(path));
  if (lock === undefined) {
    throw new Failure(
      EXIT.temporary,
      `${path} is damaged, and other processes use it.`,
      'It is made anew as soon as they have ended, see `capture status`.',
    );
  }
  try {
    const kept = `${path}.corrupt-${new Date(now()).toISOString().replaceAll(':', '-')}`;
    const draft = `${path}.draft`;
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
    // Until the new one is whole the old one stays in its place, so that a crash in between has it made anew once more.
    for (const end of ['', '-wal']) if (existsSync(path + end)) duplicate(path + end, kept + end);
    const salvaged = salvage(kept);
    fill(draft, path, isOwner ? salvaged : { ...salvaged, batches: [], refused: [] }, kept);
    renameSync(draft, rebuiltPath(path));
    rmSync(path);
    putRebuiltInPlace(path);
  } finally {
    lock.release();
  }
}

/** Under a second name, which takes no room; where there are none, as a copy. */
function duplicate(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function fill(draft: string, path: string, salvaged: Salvage, kept: string): void {
  const spool = openFile(draft);
  try {
    spool.transact(() => {
      const sent = takeJournal(spool, path);
      const taken = takeBatches(spool, salvaged.batches, sent);
      for (const { agent, session, event, problem, at } of salvaged.refused) {
        spool.batches.refuse(spool.sessions.ensure(agent, session), event, problem, at);
      }
      for (const { name, value } of salvaged.counters) spool.setCounter(name, value);
      spool.count('batchesRebuilt', taken);
      spool.setNotice('rebuilt', {
        sentence: `The spool was damaged and made anew; ${taken} batches that waited in it were taken over.`,
        hint: `The transcripts are read again, and what the service has is not sent twice. The damaged file is ${kept}.`,
      });
    });
  } finally {
    spool.close();
  }
}

/** What the service has; returns the number of the last batch that it has of each session. */
function takeJournal(spool: Spool, path: string): Map<number, number> {
  const numbers = new Map<number, number>();
  for (const line of readJournal(path).lines) {
    if ('account' in line) {
      spool.setMeta('account', line.account);
      continue;
    }
    const session = spool.sessions.ensure(line.agent, line.session);
    if ('opened' in line) {
      spool.sessions.setState(session, 'open', line.opened);
      continue;
    }
    numbers.set(session, Math.max(numbers.get(session) ?? 0, line.number));
    spool.sessions.addSent(session, line.events);
    addTags(spool, Buffer.from(line.sent, 'base64'));
  }
  for (const [session, number] of numbers) spool.sessions.setSealed(session, number);
  return numbers;
}

/**
 * Takes batches over in their order. After one that is missing, the records of those that follow are read again, too, where
 * their transcripts are still there: so that each session keeps its order.
 */
function takeBatches(spool: Spool, batches: readonly SalvagedBatch[], sent: Map<number, number>): number {
  let taken = 0;
  for (const batch of batches) {
    const session = spool.sessions.ensure(batch.agent, batch.agentSession);
    const last = sent.get(session) ?? 0;
    // Acknowledged, and not yet removed.
    if (batch.number <= last) continue;
    if (batch.number > last + 1 && batch.isReadable) continue;
    spool.sessions.setSealed(session, batch.number - 1);
    spool.sessions.learn(session, batch.facts);
    spool.batches.add({ ...batch, session });
    addTags(spool, batch.records);
    sent.set(session, batch.number);
    taken++;
  }
  return taken;
}

function addTags(spool: Spool, records: Uint8Array): void {
  for (const { record, events } of unpackTags(records)) spool.sent.addSentTag(record, events);
}
