import { setTimeout as pause } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import type pg from 'pg';
import type { Committed } from '../ingest/session-log.ts';
import { type Applied, type ApplyResult, applyNumbered } from '../store/postgres-apply.ts';
import type { TrustedClock } from '../trusted-clock.ts';
import type { Bus } from './bus.ts';
import { MIN_PAYLOAD_BYTES } from './connect.ts';
import { PULL_MS } from './logged.ts';
import { KEPT_MS, removeOld } from './retention.ts';
import { isOwnFault, REASONS, readTask, type Task } from './task.ts';

export interface WorkerOptions {
  bus: Bus;
  pool: Pick<pg.Pool, 'connect'>;
  committed: Committed;
  /** Says by which time settled messages may be removed because of their age. */
  clock: Pick<TrustedClock, 'time'>;
  /** Called with the number of events of each commit. */
  onWritten?: ((events: number) => void) | undefined;
  onError: (error: unknown) => void;
  /** Called with the reason when too many messages in a row could not be written. The worker then stops until a restart. */
  onStopped?: ((reason: string) => void) | undefined;
}

/** How many dead letters in a row stop a worker. The cause is then more likely the store than the messages. */
const MAX_DEAD_LETTERS = 3;

/** The most that one transaction writes. Writing a hundred appends of 20 events takes about 20 ms. */
const MAX_BATCH = { messages: 500, bytes: 8 * 1024 * 1024 };
/** Delay before a close that lacks earlier events is retried. It doubles with each delivery. */
const GAP_MS = 50;
const MAX_GAP_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const CLEAN_EVERY_MS = 10 * 60_000;
/** The longest pause between two attempts, and thus the longest delay after an outage of the store or the bus. */
const MAX_PAUSE_MS = 1_000;

interface PendingTask extends Task {
  message: JsMsg;
}

/**
 * Writes messages of the log to the store, many in one transaction. It acknowledges a message after the commit, so that the bus
 * delivers it again after a crash. Writing a message again changes nothing.
 *
 * | a message that is | when | becomes |
 * | --- | --- | --- |
 * | delivered | it is read | pending; settled, if it requires no write; a dead letter, if it cannot be read |
 * | pending | its transaction is committed | settled |
 * | pending | the store is unavailable | pending, and is retried; delivered again, if the worker is closed |
 * | pending | the store refuses its data | a dead letter |
 * | pending | it is a close that lacks earlier events | delivered again soon; a dead letter, once no earlier message is left |
 *
 * Three dead letters in a row stop the worker.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #closing = new AbortController();
  readonly #cleaner: NodeJS.Timeout;
  readonly #running: Promise<void>;
  #messages: ConsumerMessages | undefined;
  #deadInRow = 0;

  constructor(options: WorkerOptions) {
    const { bus, clock, onError } = options;
    this.#options = options;
    const removeSettled = async () => {
      const at = await clock.time();
      if (at !== undefined) await removeOld(bus, at - KEPT_MS);
    };
    this.#cleaner = setInterval(() => void removeSettled().catch(onError), CLEAN_EVERY_MS).unref();
    this.#running = this.#run();
  }

  /** Finishes the current batch. Other workers, or a later one, write the rest. */
  async close(): Promise<void> {
    clearInterval(this.#cleaner);
    this.#closing.abort();
    this.#messages?.stop();
    await this.#running;
  }

  get #isStopped(): boolean {
    return this.#deadInRow >= MAX_DEAD_LETTERS;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    for (let wait = FIRST_PAUSE_MS; !signal.aborted; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
      try {
        this.#messages = await this.#consume();
        if (signal.aborted) this.#messages.stop();
        for await (const batch of batchesOf(this.#messages)) {
          await this.#settle(batch);
          if (this.#isStopped) break;
          wait = FIRST_PAUSE_MS;
        }
      } catch (error) {
        this.#options.onError(error);
      } finally {
        // Otherwise the client would keep fetching messages that nobody reads.
        this.#messages?.stop();
      }
      await this.#pause(wait);
    }
  }

  async #consume(): Promise<ConsumerMessages> {
    const { bus } = this.#options;
    return (await bus.consumer()).consume({
      max_bytes: MAX_BATCH.bytes + 2 * MIN_PAYLOAD_BYTES,
      expires: PULL_MS,
      // If the consumer is missing, this fails, and the next request creates it again.
      abort_on_missing_resource: true,
    });
  }

  async #settle(batch: readonly JsMsg[]): Promise<void> {
    let pending: PendingTask[] = [];
    for (const message of batch) {
      if (this.#isStopped) return;
      const task = readTask(message, Date.now());
      if (typeof task === 'string') {
        // Messages before it are written first, because they decide whether it is one of several dead letters in a row.
        await this.#write(pending);
        pending = [];
        await this.#addDeadLetter(message, task);
      } else if (task.append || task.close || task.deletion) pending.push({ message, ...task });
      else message.ack();
    }
    await this.#write(pending);
  }

  /** Waits for an unavailable store. If a message itself causes the failure, only that message becomes a dead letter. */
  async #write(pending: readonly PendingTask[]): Promise<void> {
    if (this.#isStopped || pending.length === 0) return;
    const applied = await this.#applyPatiently(pending).catch((error: unknown) => ({ error }));
    if (applied === undefined) return;
    if (!('error' in applied)) return this.#finish(pending, applied);
    const [only] = pending;
    if (pending.length === 1 && only) return this.#addDeadLetter(only.message, String(applied.error));
    const half = Math.ceil(pending.length / 2);
    await this.#write(pending.slice(0, half));
    await this.#write(pending.slice(half));
  }

  /** Resolves with undefined if the worker was closed before the store was available again. */
  async #applyPatiently(pending: readonly PendingTask[]): Promise<Applied | undefined> {
    for (let wait = FIRST_PAUSE_MS; ; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
      try {
        return await applyNumbered(this.#options.pool, {
          appends: partOf(pending, 'append'),
          closes: partOf(pending, 'close'),
          deletions: partOf(pending, 'deletion'),
        });
      } catch (error) {
        if (isOwnFault(error)) throw error;
        this.#options.onError(error);
      }
      if (this.#closing.signal.aborted) break;
      for (const { message } of pending) message.working();
      await this.#pause(wait);
    }
    for (const { message } of pending) message.nak();
    return undefined;
  }

  async #finish(pending: readonly PendingTask[], { appends, closes, changed }: Applied): Promise<void> {
    const { bus, committed, onWritten } = this.#options;
    onWritten?.(
      pending.reduce((sum, { append }) => sum + (append ? append.lastSequence - append.firstSequence + 1 : 0), 0),
    );
    for (const row of changed) {
      const { organization_id: organizationId, session_id: sessionId, status, event_count: eventCount } = row;
      committed({ organizationId, sessionId, status, eventCount });
    }
    const results: Record<'append' | 'close', ApplyResult[]> = { append: [...appends], close: [...closes] };
    let oldest: ReturnType<Bus['oldestWaiting']> | undefined;
    const findOldest = () => {
      oldest ??= bus.oldestWaiting();
      return oldest;
    };
    for (const one of pending) {
      const result = one.deletion ? 'stored' : results[one.append ? 'append' : 'close'].shift();
      const reason = result && REASONS[result];
      if (result === 'gap_before') await this.#wait(one, findOldest);
      else if (reason) await this.#addDeadLetter(one.message, reason);
      else {
        one.message.ack();
        this.#deadInRow = 0;
      }
    }
  }

  /** The events before a close may still be pending with another worker. Once all earlier messages are settled, none can follow. */
  async #wait(one: PendingTask, findOldest: Bus['oldestWaiting']): Promise<void> {
    const { message } = one;
    const oldest = message.redelivered ? await findOldest() : undefined;
    // Tries again, because earlier messages may have been written meanwhile.
    const applied = oldest?.seq === message.seq ? await this.#applyPatiently([one]) : undefined;
    if (applied?.closes[0] === 'gap_before') await this.#addDeadLetter(message, String(REASONS.gap_before));
    else message.nak(Math.min(GAP_MS * 2 ** message.info.deliveryCount, MAX_GAP_MS));
  }

  async #addDeadLetter(message: JsMsg, reason: string): Promise<undefined> {
    if (this.#isStopped) return;
    const { bus, onError, onStopped } = this.#options;
    await bus.addDeadLetter(message, reason);
    onError(new Error(`message ${message.seq} of the bus, ${message.subject}, is a dead letter: ${reason}`));
    message.ack();
    this.#deadInRow++;
    if (!this.#isStopped) return;
    const why = `the worker has stopped: ${MAX_DEAD_LETTERS} messages in a row could not be written, the last because ${reason}`;
    onError(new Error(why));
    onStopped?.(why);
    this.#closing.abort();
  }

  /** Ends early when the worker is closed. */
  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, undefined, { signal: this.#closing.signal }).catch(() => undefined);
  }
}

const partOf = <Part extends 'append' | 'close' | 'deletion'>(pending: readonly PendingTask[], part: Part) =>
  pending.flatMap((one) => (one[part] ? [one[part]] : [])) as NonNullable<PendingTask[Part]>[];

/** Groups the messages that have already arrived, up to a limit. Waits for more no longer than one round of the event loop. */
async function* batchesOf(messages: ConsumerMessages): AsyncGenerator<JsMsg[]> {
  const iterator = messages[Symbol.asyncIterator]();
  for (let next = iterator.next(); ; ) {
    const batch: JsMsg[] = [];
    let bytes = 0;
    for (let one: IteratorResult<JsMsg> | undefined = await next; one; one = await Promise.race([next, nextRound()])) {
      if (one.done) break;
      batch.push(one.value);
      bytes += one.value.data.byteLength;
      next = iterator.next();
      if (batch.length >= MAX_BATCH.messages || bytes >= MAX_BATCH.bytes) break;
    }
    if (batch.length === 0) return;
    yield batch;
  }
}

const nextRound = () => new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
