import { setTimeout as pause } from 'node:timers/promises';
import {
  type Consumer,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiCodes,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type StoredMsg,
} from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { Problem } from '../../contract/problem.ts';
import { type Entry, type Logged, writeEntry } from './entry.ts';
import { ENTRY, PULL_MS, readHeaders, toLogged } from './logged.ts';
import { findLoss, LOOK_MS, type Loss, untilLooked } from './loss.ts';
import { deadLettersOf, ensureStreams, isCode, isMissing, subjectsOf, WORKERS } from './streams.ts';

export interface NewMessage {
  /** `<organization>.<session>`. */
  place: string;
  entry: Entry;
  body?: Uint8Array | undefined;
  /** The sequence of the subject's last message that the sender knows; 0: the subject is empty. */
  behind: number;
}

/** The bus as the session log and the workers use it. Every method rejects with `service_unavailable` during an outage. */
export interface Bus {
  name: string;
  connection: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
  isConnected(): boolean;
  /** Resolves if the stream answers; rejects otherwise. */
  ping(): Promise<void>;
  /**
   * Adds a message to a session's subject. Resolves with its sequence once the bus has stored it, or with undefined if another
   * message came first or this one is stored already.
   */
  publish(message: NewMessage): Promise<number | undefined>;
  /** All messages that the subject still has, oldest first. */
  history(place: string): Promise<Logged[]>;
  /** The first message of the subject at or after that sequence. */
  next(place: string, from: number): Promise<Logged | undefined>;
  /** The first dead letter of the subject at or after that sequence of the dead letters' own stream. */
  nextDeadLetter(place: string, from: number): Promise<Logged | undefined>;
  /** Calls the listener whenever knowledge about the bus may be outdated. */
  onForget(listener: () => void): void;
  /** Stores a message that cannot be written to the store, with the reason, until a person has resolved it. */
  addDeadLetter(message: JsMsg, reason: string): Promise<void>;
  /** The first dead letter at or after that sequence. */
  findDeadLetter(from: number): Promise<StoredMsg | null>;
  /** Removes a dead letter that could be written to the store after all. */
  removeDeadLetter(sequence: number): Promise<void>;
  /** Removes all dead letters of a session. */
  removeDeadLetters(place: string): Promise<void>;
  /**
   * Removes messages of the log.
   * @param logged in the order of the log
   * @returns false, without removing any, if the workers have not settled all of them
   */
  removeSettled(logged: readonly Logged[]): Promise<boolean>;
  /** The first message of the stream at or after that sequence. */
  messageFrom(sequence: number): Promise<StoredMsg | null>;
  /** The first message of the log that no worker has settled. */
  oldestWaiting(): Promise<StoredMsg | null>;
  /** How many dead letters there are, and how many messages no worker has settled. */
  backlog(): Promise<{ deadLetters: number; waiting: number }>;
  /**
   * Publishes that a secret is revoked, so that replicas learn of it even without the store. Never rejects: during an outage of
   * the bus it publishes later, unless this process ends first.
   */
  publishRevocation(secretId: string): Promise<void>;
  /**
   * Calls the listener for each secret that was revoked in the last day or is revoked from now on.
   * @returns a function that stops it
   */
  subscribeRevocations(listener: (secretId: string) => void): () => void;
  /** The consumer that all workers share. */
  consumer(): Promise<Consumer>;
  close(): Promise<void>;
  /** Removes everything that the bus stores for this installation. */
  remove(): Promise<void>;
}

/** How long one request to the bus may wait. A cluster elects a leader in less time. */
const ANSWERED_WITHIN_MS = 3_000;
/** How many messages are removed at once. */
const REMOVED_AT_ONCE = 50;
/** How long after a failure to publish or read revoked secrets the next attempt starts. */
const AGAIN_MS = 1_000;

export interface OpenBusOptions {
  name: string;
  /** The number of copies of each message in new streams. */
  copies: number;
  /** Called each time streams were created: at the start, or because the bus lost them. */
  onMade?: () => void;
  /** Called each time the bus no longer has its last messages. */
  onLost?: () => void;
}

export async function openBus(
  connection: NatsConnection,
  { name, copies, onMade, onLost }: OpenBusOptions,
): Promise<Bus> {
  const client = jetstream(connection, { timeout: ANSWERED_WITHIN_MS });
  const manager = await jetstreamManager(connection, { timeout: ANSWERED_WITHIN_MS });
  const subjects = subjectsOf(name);
  const dead = deadLettersOf(name);
  const listeners: (() => void)[] = [];
  const forget = () => {
    for (const listener of listeners) listener();
  };
  let isEnsuring = false;
  async function ensure(): Promise<void> {
    if (isEnsuring) return;
    isEnsuring = true;
    const isMade = await ensureStreams(manager, name, copies).finally(() => {
      isEnsuring = false;
    });
    if (!isMade) return;
    newest = 0;
    onMade?.();
    forget();
  }
  /** The sequence of the last message that this process has published. */
  let newest = 0;

  /** Must be done before any process publishes, since the workers would skip what is published before. */
  async function recover(loss: Loss | undefined): Promise<void> {
    if (!loss) return;
    if (loss.isSkipping) {
      await manager.consumers.delete(name, WORKERS);
      await ensure();
    }
    newest = loss.last;
    onLost?.();
  }
  /** Creates missing streams, because a bus that is connected again may have lost all of them. */
  const look = () =>
    findLoss(manager, name, newest).catch((error: unknown) => {
      if (isMissing(error)) void ensure().catch(() => undefined);
      throw error;
    });
  await ensure();
  await recover(await look());

  /** Runs a short request. Rejects as soon as the connection is lost, whereas the client would wait for its timeout. */
  const ask = <Answer>(question: () => Promise<Answer>): Promise<Answer> =>
    guarded(
      () =>
        new Promise<Answer>((resolve, reject) => {
          unanswered.add(reject);
          void question()
            .then(resolve, reject)
            .finally(() => unanswered.delete(reject));
        }),
    );

  /** Fails at once while the connection is lost. Otherwise the client would send the request after its caller has given up. */
  async function guarded<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (!isConnected()) throw busUnavailable('not connected');
    try {
      return await work();
    } catch (error) {
      // A reachable bus may have lost its streams.
      if (isConnected()) void ensure().catch(() => undefined);
      throw error instanceof Problem ? error : busUnavailable(error);
    }
  }

  /** The reject functions of the requests that were sent over the present connection. */
  const unanswered = new Set<(reason: unknown) => void>();
  let connected = true;
  const isConnected = () => connected && !connection.isClosed();
  let reconnects = 0;
  void watch();
  async function watch(): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        connected = false;
        reconnects++;
        for (const reject of unanswered) reject(busUnavailable('the connection was lost'));
      }
      if (type === 'reconnect') void resume(reconnects);
    }
  }

  /** Uses the bus again once it is known which messages it has, unless the connection is lost meanwhile. */
  async function resume(reconnect: number): Promise<void> {
    const isPresent = () => reconnect === reconnects && !connection.isClosed();
    while (isPresent()) {
      try {
        await recover(await untilLooked(look, isPresent));
        break;
      } catch {
        await pause(LOOK_MS, undefined, { ref: false });
      }
    }
    if (!isPresent()) return;
    connected = true;
    forget();
  }

  const get = (query: object, stream = name): Promise<StoredMsg | null> =>
    // The server accepts `next_by_subj` since 2.9, but the type of the client lacks it.
    manager.streams.getMessage(stream, query as { last_by_subj: string });

  const oldestAfter = ({ ack_floor: settled }: ConsumerInfo) =>
    get({ seq: settled.stream_seq + 1, next_by_subj: `${subjects.log}.>` });

  /**
   * Removes one message of the stream, if it is there. A purge with a filter would be one request for many, but it makes the server
   * forget messages of other subjects that are pending with a worker, so nobody gets them again after the worker ends (nats-server before
   * 2.9.15, pull request 3892; reported again for 2.10.22 in issue 5727).
   */
  async function removeMessage(sequence: number): Promise<void> {
    try {
      await manager.streams.deleteMessage(name, sequence);
    } catch (error) {
      if (await get({ seq: sequence })) throw error;
    }
  }

  const dropDeadLetter = (sequence: number) => manager.streams.deleteMessage(dead.stream, sequence);

  const nextOf = (stream: string, subject: string, from: number) =>
    ask(async () => {
      const message = await get({ seq: from, next_by_subj: subject }, stream);
      return message ? toLogged(message.seq, message.header) : undefined;
    });

  return {
    name,
    connection,
    client,
    manager,
    isConnected,

    ping: () =>
      ask(async () => {
        await manager.streams.info(name);
      }),

    async publish({ place, entry, body, behind }) {
      const written = headers();
      written.set(ENTRY, writeEntry(entry));
      return ask(async () => {
        const options = {
          headers: written,
          msgID: idOf(place, entry, behind),
          expect: { lastSubjectSequence: behind },
        };
        await together();
        try {
          const { seq, duplicate } = await client.publish(`${subjects.log}.${place}`, body, options);
          newest = Math.max(newest, seq);
          return duplicate ? undefined : seq;
        } catch (error) {
          if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) return undefined;
          throw error;
        }
      });
    },

    next: (place, from) => nextOf(name, `${subjects.log}.${place}`, from),

    nextDeadLetter: (place, from) => nextOf(dead.stream, `${dead.letter}.${place}.*`, from),

    history: (place) =>
      ask(async () => {
        const last = await get({ last_by_subj: `${subjects.log}.${place}` });
        if (!last) return [];
        const logged = toLogged(last.seq, last.header);
        if (logged.entry.kind === 'opened') return [logged];
        return readHeaders({ client, manager, name }, `${subjects.log}.${place}`);
      }),

    addDeadLetter: (message, reason) =>
      ask(async () => {
        const written = headers();
        written.set('Capture-Reason', reason.replace(/[^\x20-\x7e]/g, ' ').slice(0, 500));
        written.set('Capture-Subject', message.subject);
        const entry = message.headers?.get(ENTRY);
        if (entry) written.set(ENTRY, entry);
        // The id detects a redelivered message. It includes the time, because a new stream counts from 1 again.
        const msgID = `${message.seq} ${message.timestampNanos}`;
        const place = message.subject.slice(`${subjects.log}.`.length);
        await client.publish(`${dead.letter}.${place}.${message.seq}`, message.data, { headers: written, msgID });
      }),

    findDeadLetter: (from) => ask(() => get({ seq: from, next_by_subj: `${dead.letter}.>` }, dead.stream)),

    removeDeadLetter: (sequence) =>
      ask(async () => {
        await dropDeadLetter(sequence);
      }),

    removeDeadLetters: (place) =>
      ask(async () => {
        const next = (from: number) => get({ seq: from, next_by_subj: `${dead.letter}.${place}.*` }, dead.stream);
        for (let letter = await next(1); letter; letter = await next(letter.seq + 1)) await dropDeadLetter(letter.seq);
      }),

    backlog: () =>
      ask(async () => {
        const [{ state }, workers] = await Promise.all([
          manager.streams.info(dead.stream),
          manager.consumers.info(name, WORKERS),
        ]);
        const counted = workers.num_pending + workers.num_ack_pending;
        // The counts of a consumer are separate from the stream, so they may lag behind it.
        const waiting = counted === 0 && (await oldestAfter(workers)) ? 1 : counted;
        return { deadLetters: state.num_subjects ?? 0, waiting };
      }),

    removeSettled: (logged) =>
      ask(async () => {
        const { ack_floor: settled } = await manager.consumers.info(name, WORKERS);
        if (logged.some(({ sequence }) => settled.stream_seq < sequence)) return false;
        for (let at = 0; at < logged.length; at += REMOVED_AT_ONCE) {
          await Promise.all(logged.slice(at, at + REMOVED_AT_ONCE).map(({ sequence }) => removeMessage(sequence)));
        }
        return true;
      }),

    messageFrom: (sequence) => ask(() => get({ seq: sequence, next_by_subj: '>' })),

    oldestWaiting: () => ask(async () => oldestAfter(await manager.consumers.info(name, WORKERS))),

    async publishRevocation(secretId) {
      const tell = () =>
        ask(() => client.publish(`${subjects.revoked}.${secretId}`)).then(
          () => true,
          () => false,
        );
      const tellLater = async () => {
        do await pause(AGAIN_MS, undefined, { ref: false });
        while (!connection.isClosed() && !(await tell()));
      };
      if (!(await tell())) void tellLater();
    },

    subscribeRevocations(listener) {
      const options = { filter_subjects: `${subjects.revoked}.>`, deliver_policy: DeliverPolicy.All };
      let messages: ConsumerMessages | undefined;
      let isStopped = false;
      /** Reads from the beginning each time, so that it includes messages that were published during an outage. */
      async function hear(): Promise<void> {
        messages = await (await client.consumers.get(name, options)).consume({
          abort_on_missing_resource: true,
          expires: PULL_MS,
        });
        for await (const { subject } of messages) listener(subject.split('.').at(-1) ?? '');
      }
      void (async () => {
        while (!isStopped) {
          await guarded(hear).catch(() => undefined);
          await pause(AGAIN_MS, undefined, { ref: false });
        }
      })();
      return () => {
        isStopped = true;
        messages?.stop();
      };
    },

    onForget: (listener) => void listeners.push(listener),

    consumer: () => ask(() => client.consumers.get(name, WORKERS)),

    close: () => connection.drain(),

    async remove() {
      await Promise.all([name, dead.stream].map((stream) => manager.streams.delete(stream)));
      await connection.close();
    },
  };
}

let batch: Promise<void> | undefined;

/** Resolves at the end of this round of the event loop, so that the messages of a round become one batch with one write. */
function together(): Promise<void> {
  batch ??= new Promise((resolve) =>
    setImmediate(() => {
      batch = undefined;
      resolve();
    }),
  );
  return batch;
}

/**
 * Messages that compete for the same place in a session's log get the same id. A cluster compares `behind` before it replicates
 * a message, and may thus accept two at the same time (nats-server before 2.9.21, issue 4320). It accepts only one with the same
 * id.
 */
function idOf(place: string, entry: Entry, behind: number): string {
  const next =
    entry.kind === 'append' ? entry.firstSequence : entry.kind === 'closed' ? entry.eventCount + 1 : entry.kind;
  return `${place} ${behind} ${next}`;
}

const busUnavailable = (cause: unknown) =>
  new Problem(
    'service_unavailable',
    'The event bus cannot answer right now. Try again with the same idempotency key.',
    { retryAfter: 1, cause },
  );
