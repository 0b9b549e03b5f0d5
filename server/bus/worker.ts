import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type { Committed } from '../ingest/session-log.ts';
import { type Fate, type Persisted, persist } from '../store/persist.ts';
import { type Bus, PULL_MS } from './bus.ts';
import { KEPT_MS, removeOld } from './retention.ts';
import { isOwnFault, REASONS, readTask, type Task } from './task.ts';

export interface WorkerOptions {
  bus: Bus;
  pool: Parameters<typeof persist>[0];
  committed: Committed;
  /** Told of the events of each commit. */
  onWritten?: ((events: number) => void) | undefined;
  onError: (error: unknown) => void;
  /** Told why, when too many messages in a row could not be written. The worker writes nothing more until a restart. */
  onStopped?: ((reason: string) => void) | undefined;
}

/** Dead letters in a row that stop a worker: more likely the store is at fault than so many messages. */
const MOST_DEAD_LETTERS = 3;

export interface Worker {
  /** Finishes what is at hand; the rest is for other workers, or for later. */
  close(): Promise<void>;
}

/** What one transaction takes at most: a hundred appends of 20 events are written in about 20 ms. */
const LARGEST_BATCH = { messages: 500, bytes: 8 * 1024 * 1024 };
/** Delay before a close that lacks earlier events is tried again, doubled with each delivery. */
const AHEAD_MS = 50;
const LONGEST_AHEAD_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const CLEAN_EVERY_MS = 10 * 60_000;
/** Between two tries: what was away is used again within this. */
const LONGEST_PAUSE_MS = 1_000;

interface Held extends Task {
  message: JsMsg;
}

/**
 * Writes messages of the log to the store, many in a transaction. A message is acknowledged after the commit, so that it is
 * delivered again after a crash; writing it again changes nothing.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { bus, pool, committed, onWritten, onError, onStopped } = options;
  let deadInRow = 0;
  const closing = new AbortController();
  let messages: ConsumerMessages | undefined;
  const running = run();
  const cleaner = setInterval(() => void removeOld(bus, Date.now() - KEPT_MS).catch(onError), CLEAN_EVERY_MS).unref();

  async function run(): Promise<void> {
    for (let wait = FIRST_PAUSE_MS; !closing.signal.aborted; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      try {
        messages = await (await bus.consumer()).consume({
          max_bytes: LARGEST_BATCH.bytes + 2 * bus.largest(),
          expires: PULL_MS,
          // A missing consumer is created again and then found.
          abort_on_missing_resource: true,
        });
        if (closing.signal.aborted) messages.stop();
        for await (const batch of batchesOf(messages)) {
          await settle(batch);
          if (isStopped()) break;
          wait = FIRST_PAUSE_MS;
        }
      } catch (error) {
        onError(error);
      } finally {
        // Otherwise it would keep fetching messages that nobody reads.
        messages?.stop();
      }
      await pause(wait, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function settle(batch: readonly JsMsg[]): Promise<void> {
    const tasks: Held[] = [];
    let bytes = 0;
    for (const message of batch) {
      if (isStopped()) break;
      const task = await read(message);
      if (!task) continue;
      tasks.push(task);
      // Bodies in parts are longer than their message.
      bytes += task.append?.body.byteLength ?? 0;
      if (bytes < LARGEST_BATCH.bytes) continue;
      await write(tasks.splice(0));
      bytes = 0;
    }
    if (tasks.length > 0) await write(tasks);
  }

  /** Undefined where nothing is to be written; the message is settled then. */
  async function read(message: JsMsg): Promise<Held | undefined> {
    const task = await readTask(bus, message, Date.now());
    if (typeof task === 'string') return addDeadLetter(message, task);
    return task.append || task.close || task.deletion ? { message, ...task } : void message.ack();
  }

  /** Waits for a store that cannot write; where a message itself is at fault, that one alone becomes a dead letter. */
  async function write(tasks: readonly Held[]): Promise<void> {
    if (isStopped()) return;
    const done = await persistPatiently(tasks).catch((error: unknown) => ({ error }));
    if (done === undefined) return;
    if (!('error' in done)) return finish(tasks, done);
    const [only] = tasks;
    if (tasks.length === 1 && only) return addDeadLetter(only.message, String(done.error));
    const half = Math.ceil(tasks.length / 2);
    await write(tasks.slice(0, half));
    await write(tasks.slice(half));
  }

  /** Undefined where the worker was closed before the store was back. */
  async function persistPatiently(tasks: readonly Held[]): Promise<Persisted | undefined> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, LONGEST_PAUSE_MS)) {
      try {
        return await persist(pool, {
          appends: partOf(tasks, 'append'),
          closes: partOf(tasks, 'close'),
          deletions: partOf(tasks, 'deletion'),
        });
      } catch (error) {
        if (isOwnFault(error)) throw error;
        onError(error);
      }
      if (closing.signal.aborted) break;
      for (const { message } of tasks) message.working();
      await pause(wait, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    for (const { message } of tasks) message.nak();
    return undefined;
  }

  async function finish(tasks: readonly Held[], { appends, closes, changed }: Persisted): Promise<void> {
    onWritten?.(
      tasks.reduce((sum, { append }) => sum + (append ? append.lastSequence - append.firstSequence + 1 : 0), 0),
    );
    for (const row of changed) {
      const { organization_id: organizationId, session_id: sessionId, status, event_count: eventCount } = row;
      committed({ organizationId, sessionId, status, eventCount });
    }
    const fates: Record<'append' | 'close', Fate[]> = { append: [...appends], close: [...closes] };
    let oldest: ReturnType<Bus['oldestWaiting']> | undefined;
    const findOldest = () => {
      oldest ??= bus.oldestWaiting();
      return oldest;
    };
    for (const task of tasks) {
      const fate = task.deletion ? 'stored' : fates[task.append ? 'append' : 'close'].shift();
      const reason = fate && REASONS[fate];
      if (fate === 'ahead') await wait(task, findOldest);
      else if (reason) await addDeadLetter(task.message, reason);
      else {
        task.message.ack();
        deadInRow = 0;
      }
    }
  }

  /** Another worker may still have what is in front of a close. Once all of that is settled, nothing more will come. */
  async function wait(task: Held, findOldest: Bus['oldestWaiting']): Promise<void> {
    const { message } = task;
    const oldest = message.redelivered ? await findOldest() : undefined;
    // Decided again, because earlier messages may have been written meanwhile.
    const done = oldest?.seq === message.seq ? await persistPatiently([task]) : undefined;
    if (done?.closes[0] === 'ahead') await addDeadLetter(message, String(REASONS.ahead));
    else message.nak(Math.min(AHEAD_MS * 2 ** message.info.deliveryCount, LONGEST_AHEAD_MS));
  }

  const isStopped = () => deadInRow >= MOST_DEAD_LETTERS;

  async function addDeadLetter(message: JsMsg, reason: string): Promise<undefined> {
    if (isStopped()) return;
    await bus.addDeadLetter(message, reason);
    onError(new Error(`message ${message.seq} of the bus, ${message.subject}, is a dead letter: ${reason}`));
    message.ack();
    deadInRow++;
    if (!isStopped()) return;
    const why = `the worker has stopped: ${MOST_DEAD_LETTERS} messages in a row could not be written, the last because ${reason}`;
    onError(new Error(why));
    onStopped?.(why);
    closing.abort();
  }

  return {
    async close() {
      clearInterval(cleaner);
      closing.abort();
      messages?.stop();
      await running;
    },
  };
}

const partOf = <Part extends 'append' | 'close' | 'deletion'>(tasks: readonly Held[], part: Part) =>
  tasks.flatMap((task) => (task[part] ? [task[part]] : [])) as NonNullable<Held[Part]>[];

/** What has come in already, up to a limit; waits for more no longer than a turn of the event loop. */
async function* batchesOf(messages: ConsumerMessages): AsyncGenerator<JsMsg[]> {
  const iterator = messages[Symbol.asyncIterator]();
  for (let next = iterator.next(); ; ) {
    const batch: JsMsg[] = [];
    let bytes = 0;
    for (let one: IteratorResult<JsMsg> | undefined = await next; one; one = await Promise.race([next, turn()])) {
      if (one.done) break;
      batch.push(one.value);
      bytes += one.value.data.byteLength;
      next = iterator.next();
      if (batch.length >= LARGEST_BATCH.messages || bytes >= LARGEST_BATCH.bytes) break;
    }
    if (batch.length === 0) return;
    yield batch;
  }
}

const turn = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
