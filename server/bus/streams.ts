import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';

/** How long the bus rejects a second message with the same id. A message takes less to reach all servers of a cluster. */
const DUPLICATES_MS = 120_000;
/** A message is delivered again if its worker reports nothing for this long. A batch takes a tenth of a second. */
const SETTLED_WITHIN_MS = 5_000;
/** How many messages may be pending with all workers together. */
const MAX_PENDING = 5_000;
/** The name of the consumer that all workers share. */
export const WORKERS = 'workers';

/** The subjects of the stream, which start with its name. */
export const subjectsOf = (name: string) => ({ log: `${name}.log`, revoked: `${name}.revoked` });

/** The stream of the dead letters, and the start of their subjects. */
export const deadLettersOf = (name: string) => {
  const stream = `${name}_dead`;
  return { stream, letter: `${stream}.letter` };
};

/**
 * Creates missing streams and the missing consumer. Existing ones stay as they are, since an operator may have changed them.
 * @param copies the number of copies of each message
 * @returns whether a stream was created
 */
export async function ensureStreams(manager: JetStreamManager, name: string, copies: number): Promise<boolean> {
  const subjects = subjectsOf(name);
  const log = {
    name,
    subjects: Object.values(subjects).map((subject) => `${subject}.>`),
    duplicate_window: nanos(DUPLICATES_MS),
    num_replicas: copies,
  };
  const { stream } = deadLettersOf(name);
  const dead = { name: stream, subjects: [`${stream}.>`], num_replicas: copies };
  let isMade = false;
  for (const stream of [log, dead]) {
    isMade = (await ensure(manager.streams.info(stream.name), () => manager.streams.add(stream))) || isMade;
  }
  const workers = {
    durable_name: WORKERS,
    filter_subject: `${subjects.log}.>`,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(SETTLED_WITHIN_MS),
    max_ack_pending: MAX_PENDING,
  };
  await ensure(manager.consumers.info(name, WORKERS), () => manager.consumers.add(name, workers));
  return isMade;
}

/** @returns whether it was created */
async function ensure(found: Promise<unknown>, make: () => Promise<unknown>): Promise<boolean> {
  try {
    await found;
    return false;
  } catch (error) {
    if (!isMissing(error)) throw error;
    await make();
    return true;
  }
}

/** Whether the bus has no such stream or consumer. */
export const isMissing = (error: unknown): boolean =>
  isCode(error, JetStreamApiCodes.StreamNotFound) || isCode(error, JetStreamApiCodes.ConsumerNotFound);

export const isCode = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code;
