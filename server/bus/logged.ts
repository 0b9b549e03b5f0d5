import { AckPolicy, DeliverPolicy, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { type MsgHdrs, nanos } from '@nats-io/transport-node';
import { type Entry, type Logged, readEntry } from './entry.ts';

/** The header of a message that has its entry. */
export const ENTRY = 'Capture-Entry';
/** How many messages of a subject are read at once. */
const READ_AT_ONCE = 5_000;
/**
 * How long one request for messages is open. A client may lose its consumer, for example by a restart of the bus. It notices
 * the loss after one and a half times this period, and waits as long between two attempts.
 */
export const PULL_MS = 1_000;

interface Source {
  name: string;
  client: JetStreamClient;
  manager: JetStreamManager;
}

/**
 * Reads a subject's messages without their bodies.
 * @throws if not all of them arrive in time, because a part of them says nothing reliable about the session
 */
export async function readHeaders({ client, manager, name }: Source, subject: string): Promise<Logged[]> {
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
  // If this fails, the bus removes the consumer by itself a little later.
  void consumer.delete().catch(() => undefined);
  return logged;
}

/** A message of another version must not be skipped, because it may have numbered events. */
export function toLogged(sequence: number, written: MsgHdrs | undefined): Logged {
  const entry = entryOf(written);
  if (!entry) throw new Error(`this version does not understand message ${sequence} of the bus`);
  return { sequence, entry };
}

export const entryOf = (written: MsgHdrs | undefined): Entry | undefined => readEntry(written?.get(ENTRY));
