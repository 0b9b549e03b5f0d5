import { setTimeout as pause } from 'node:timers/promises';
import {
  AckPolicy,
  type Consumer,
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
import { headers, type MsgHdrs, type NatsConnection, nanos } from '@nats-io/transport-node';
import { Problem } from '../../contract/problem.ts';
import { type AppendEntry, type Entry, type Logged, readEntry, writeEntry } from './entry.ts';
import { deadLettersOf, ensureStreams, isCode, subjectsOf, WORKERS } from './streams.ts';

export interface NewMessage {
  /** `<organization>.<session>`. */
  place: string;
  entry: Entry;
  body?: Uint8Array | undefined;
  /** Of the last message of the subject, as far as the sender knows; 0: there is none. */
  behind: number;
}

/** The bus as the session log and the workers use it. Everything rejects with `service_unavailable` while it is away. */
export interface Bus {
  name: string;
  connection: NatsConnection;
  client: JetStreamClient;
  manager: JetStreamManager;
  isConnected(): boolean;
  /** Bytes of a message's body. */
  largest(): number;
  /** Answers when the stream can be asked; throws otherwise. */
  ping(): Promise<void>;
  /**
   * Adds to a session's subject; resolves once the bus has it, with its sequence. Undefined: something else came before,
   * or it is there already.
   */
  publish(message: NewMessage): Promise<number | undefined>;
  /** All that the subject still has, oldest first. */
  history(place: string): Promise<Logged[]>;
  /** The first message of the subject at or after that sequence. */
  next(place: string, from: number): Promise<Logged | undefined>;
  /** The same for its dead letters, by sequences of their own stream. */
  nextDeadLetter(place: string, from: number): Promise<Logged | undefined>;
  /**
   * Publishes a body that is too long for one message, in front of the message that tells of it.
   * @returns how many messages it took; 0: it fits one, and nothing was done
   */
  publishParts(appendId: string, body: Uint8Array): Promise<number>;
  /** From the log, or from the dead letters. Undefined where one of them is gone. */
  readParts(appendId: string, parts: number): Promise<Uint8Array | undefined>;
  /** Whatever was known of the bus may no longer be so. */
  onForget(listener: () => void): void;
  /** Keeps a message that cannot be written to the store, with its parts and the reason, until a person has dealt with it. */
  addDeadLetter(message: JsMsg, reason: string): Promise<void>;
  /** The first dead letter at or after that sequence. */
  findDeadLetter(from: number): Promise<StoredMsg | null>;
  /** Removes a dead letter that was written to the store after all, and the parts it kept. */
  removeDeadLetter(sequence: number, entry: Entry | undefined): Promise<void>;
  /**
   * Removes a session's messages up to a sequence of the stream, and the parts of these appends.
   * @returns false, without removing any, where no worker has settled one of them
   */
  removeSettled(place: string, sequence: number, appendIds: readonly string[]): Promise<boolean>;
  /** The first message of the stream at a sequence or behind it. */
  messageFrom(sequence: number): Promise<StoredMsg | null>;
  /** The first message of the log that no worker has settled. */
  oldestWaiting(): Promise<StoredMsg | null>;
  /** Messages that could not be written, and those that no worker has settled. */
  backlog(): Promise<{ deadLetters: number; waiting: number }>;
  /**
   * Publishes that a secret is revoked, also for replicas without the store. Never rejects: without the bus it is published
   * after the outage, unless this process ends before.
   */
  tellRevoked(secretId: string): Promise<void>;
  /** Hears of every secret that was revoked in the last day, and from now on until what it returns is called. */
  hearRevoked(listener: (secretId: string) => void): () => void;
  /** The workers' common place in the log. */
  consumer(): Promise<Consumer>;
  close(): Promise<void>;
  /** Removes all that the bus has of this installation. */
  remove(): Promise<void>;
}

const ENTRY = 'Capture-Entry';
/** Space for the entry, with a key of up to 255 characters, and for the bus's own headers. */
const HEADER_BYTES = 8 * 1024;
/** The longest that one question to the bus waits: a cluster elects a leader in less. */
const ANSWERED_WITHIN_MS = 3_000;
/** Messages of a subject that are read in one go. */
const READ_AT_ONCE = 5_000;
/**
 * How long one request for messages is open. A client that has lost its place in the stream, such as by a restart of the bus,
 * notices it after one and a half of these, and waits for as long between two tries.
 */
export const PULL_MS = 1_000;
/** What concerns revoked secrets and did not work is tried again after so long. */
const AGAIN_MS = 1_000;

/**
 * @param copies of each message, where streams are made
 * @param onMade told each time streams were made, at once or because the bus has lost them
 */
export async function openBus(
  connection: NatsConnection,
  name: string,
  copies: number,
  onMade: () => void = () => undefined,
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
    onMade();
    forget();
  }
  await ensure();

  /** A question that has an answer soon: fails also once the connection is lost, as the client would wait for its time-out. */
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

  /** Fails at once while the connection is lost: what waits in the client would be sent when nobody expects it any more. */
  async function guarded<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    if (!isConnected()) throw busUnavailable('not connected');
    try {
      return await work();
    } catch (error) {
      // A bus that is there may have lost what it had.
      if (isConnected()) void ensure().catch(() => undefined);
      throw error instanceof Problem ? error : busUnavailable(error);
    }
  }

  const largest = () => (connection.info?.max_payload ?? 0) - HEADER_BYTES;
  /** Questions that were asked over the present connection. */
  const unanswered = new Set<(reason: unknown) => void>();
  let connected = true;
  const isConnected = () => connected && !connection.isClosed();
  void watch();
  async function watch(): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') {
        connected = false;
        for (const reject of unanswered) reject(busUnavailable('the connection was lost'));
      }
      if (type !== 'reconnect') continue;
      connected = true;
      forget();
    }
  }

  const get = (query: object, stream = name): Promise<StoredMsg | null> =>
    // `next_by_subj` is what the server takes (since 2.9) and the client's type lacks.
    manager.streams.getMessage(stream, query as { last_by_subj: string });

  /** Keeps the parts of a dead letter, which the cleaner would remove by age. */
  async function keepParts({ appendId, parts }: AppendEntry): Promise<void> {
    for (let part = 0; part < parts; part++) {
      const message = await get({ last_by_subj: `${subjects.part}.${appendId}.${part}` });
      const msgID = `${appendId} ${part}`;
      if (message) await client.publish(`${dead.part}.${appendId}.${part}`, message.data, { msgID });
    }
  }

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
    largest,

    ping: () =>
      ask(async () => {
        await manager.streams.info(name);
      }),

    publish: ({ place, entry, body, behind }) =>
      ask(async () => {
        const written = headers();
        written.set(ENTRY, writeEntry(entry));
        const options = {
          headers: written,
          msgID: idOf(place, entry, behind),
          expect: { lastSubjectSequence: behind },
        };
        await together();
        try {
          const { seq, duplicate } = await client.publish(`${subjects.log}.${place}`, body, options);
          return duplicate ? undefined : seq;
        } catch (error) {
          if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) return undefined;
          throw error;
        }
      }),

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

    publishParts: (appendId, body) =>
      ask(async () => {
        if (body.byteLength <= largest()) return 0;
        let parts = 0;
        for (let start = 0; start < body.byteLength; start += largest()) {
          const subject = `${subjects.part}.${appendId}.${parts++}`;
          await client.publish(subject, body.subarray(start, start + largest()));
        }
        return parts;
      }),

    readParts: (appendId, parts) =>
      ask(async () => {
        const read: Uint8Array[] = [];
        for (let part = 0; part < parts; part++) {
          const message =
            (await get({ last_by_subj: `${subjects.part}.${appendId}.${part}` })) ??
            (await get({ last_by_subj: `${dead.part}.${appendId}.${part}` }, dead.stream));
          if (!message) return undefined;
          read.push(message.data);
        }
        return Buffer.concat(read);
      }),

    addDeadLetter: (message, reason) =>
      ask(async () => {
        const known = entryOf(message.headers);
        // The parts first: where the letter is there, all of it is.
        if (known?.kind === 'append') await keepParts(known);
        const written = headers();
        written.set('Capture-Reason', reason.replace(/[^\x20-\x7e]/g, ' ').slice(0, 500));
        written.set('Capture-Subject', message.subject);
        const entry = message.headers?.get(ENTRY);
        if (entry) written.set(ENTRY, entry);
        // An id, because the message may be delivered again; a new stream counts from 1, hence the time.
        const msgID = `${message.seq} ${message.timestampNanos}`;
        const place = message.subject.slice(`${subjects.log}.`.length);
        await client.publish(`${dead.letter}.${place}.${message.seq}`, message.data, { headers: written, msgID });
      }),

    findDeadLetter: (from) => ask(() => get({ seq: from, next_by_subj: `${dead.letter}.>` }, dead.stream)),

    removeDeadLetter: (sequence, entry) =>
      ask(async () => {
        await manager.streams.deleteMessage(dead.stream, sequence);
        if (entry?.kind !== 'append' || entry.parts === 0) return;
        await manager.streams.purge(dead.stream, { filter: `${dead.part}.${entry.appendId}.>` });
      }),

    backlog: () =>
      ask(async () => {
        const [{ state }, workers] = await Promise.all([
          manager.streams.info(dead.stream, { subjects_filter: `${dead.letter}.>` }),
          manager.consumers.info(name, WORKERS),
        ]);
        const deadLetters = Object.keys(state.subjects ?? {}).length;
        return { deadLetters, waiting: workers.num_pending + workers.num_ack_pending };
      }),

    removeSettled: (place, sequence, appendIds) =>
      ask(async () => {
        const { ack_floor: settled } = await manager.consumers.info(name, WORKERS);
        if (settled.stream_seq < sequence) return false;
        // The parts first: without their message nobody would find them.
        for (const id of appendIds) await manager.streams.purge(name, { filter: `${subjects.part}.${id}.>` });
        await manager.streams.purge(name, { filter: `${subjects.log}.${place}`, seq: sequence + 1 });
        return true;
      }),

    messageFrom: (sequence) => ask(() => get({ seq: sequence, next_by_subj: '>' })),

    oldestWaiting: () =>
      ask(async () => {
        const { ack_floor: settled } = await manager.consumers.info(name, WORKERS);
        return get({ seq: settled.stream_seq + 1, next_by_subj: `${subjects.log}.>` });
      }),

    async tellRevoked(secretId) {
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

    hearRevoked(listener) {
      const options = { filter_subjects: `${subjects.revoked}.>`, deliver_policy: DeliverPolicy.All };
      let messages: ConsumerMessages | undefined;
      let isStopped = false;
      /** Reads from the beginning each time, to include messages from an outage. */
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

/** Resolves at the end of this round of the event loop: the messages of a round are one batch, with one write and one answer. */
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
 * One for all that would have the same place in a session's log. A cluster compares `behind` before it hands a message
 * round, and so takes two that come at once (nats-server before 2.9.21, its issue 4320); of one id it takes one.
 */
function idOf(place: string, entry: Entry, behind: number): string {
  const next =
    entry.kind === 'append' ? entry.firstSequence : entry.kind === 'closed' ? entry.eventCount + 1 : entry.kind;
  return `${place} ${behind} ${next}`;
}

/**
 * A subject's messages without their bodies.
 * @throws where they do not all come in time; then nothing is known of the subject
 */
async function readHeaders({ client, manager, name }: Pick<Bus, 'client' | 'manager' | 'name'>, subject: string) {
  const made = await manager.consumers.add(name, {
    filter_subject: subject,
    headers_only: true,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    mem_storage: true,
    inactive_threshold: nanos(10_000),
  });
  const consumer = client.consumers.getConsumerFromInfo(made);
  const logged: Logged[] = [];
  while (logged.length < made.num_pending) {
    const before = logged.length;
    const wanted = Math.min(READ_AT_ONCE, made.num_pending - before);
    const messages = await consumer.fetch({ max_messages: wanted, expires: PULL_MS });
    for await (const message of messages) logged.push(toLogged(message.seq, message.headers));
    if (logged.length === before) throw new Error(`the bus did not send all messages of ${subject} in time`);
  }
  // It goes by itself a little later where this fails.
  void consumer.delete().catch(() => undefined);
  return logged;
}

/** What another version has written here cannot be passed over: it may have numbered events. */
function toLogged(sequence: number, written: MsgHdrs | undefined): Logged {
  const entry = entryOf(written);
  if (!entry) throw new Error(`message ${sequence} of the bus is none that this version understands`);
  return { sequence, entry };
}

export const entryOf = (written: MsgHdrs | undefined): Entry | undefined => readEntry(written?.get(ENTRY));

const busUnavailable = (cause: unknown) =>
  new Problem(
    'service_unavailable',
    'The event bus cannot answer right now. Try again with the same idempotency key.',
    { retryAfter: 1, cause },
  );
