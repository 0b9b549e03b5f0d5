import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';

/** How long two messages of one id are one: longer than one is on its way between the servers of a cluster. */
const DUPLICATES_MS = 120_000;
/** A worker that has not told of a message for so long is taken to be gone; a batch takes a tenth of a second. */
const SETTLED_WITHIN_MS = 5_000;
/** Messages that workers hold at a time, all together. */
const MOST_HELD = 5_000;
/** The workers' common place in the log. */
export const WORKERS = 'workers';

/** What the stream is made of, its name in front. */
export const subjectsOf = (name: string) => ({ log: `${name}.log`, part: `${name}.part`, revoked: `${name}.revoked` });

/** The stream of the dead letters, and the subjects in it. */
export const deadLettersOf = (name: string) => {
  const stream = `${name}_dead`;
  return { stream, letter: `${stream}.letter`, part: `${stream}.part` };
};

/**
 * Makes streams and consumer where they are not there, and leaves them as they are where an operator changed them.
 * @param copies of each message
 * @returns whether a stream was made
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
    max_ack_pending: MOST_HELD,
  };
  await ensure(manager.consumers.info(name, WORKERS), () => manager.consumers.add(name, workers));
  return isMade;
}

/** @returns whether it was made */
async function ensure(found: Promise<unknown>, make: () => Promise<unknown>): Promise<boolean> {
  try {
    await found;
    return false;
  } catch (error) {
    if (!isCode(error, JetStreamApiCodes.StreamNotFound) && !isCode(error, JetStreamApiCodes.ConsumerNotFound))
      throw error;
    await make();
    return true;
  }
}

export const isCode = (error: unknown, code: number): boolean =>
  error instanceof JetStreamApiError && error.code === code;
