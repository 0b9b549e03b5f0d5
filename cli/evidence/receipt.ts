import type { KeyObject } from 'node:crypto';
import { Value } from 'typebox/value';
import { type CheckedEvent, checkChain, digestOfMasked } from '../../contract/chain.ts';
import { type Envelope, openEnvelope, signStatement } from '../../contract/dsse.ts';
import { COUNTERSIGNATURE, Countersigned, type Evidence, RECEIPT, Receipt } from '../../contract/evidence.ts';
import { saltKeysOf, saltsUpTo, withoutSalts } from '../../contract/salts.ts';
import { countMarks } from '../../redact/mark.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Masked, SentChain } from '../spool/chains.ts';
import { VERSION } from '../version.ts';
import { itemsOf, membersOf } from './exact-members.ts';

/** A receipt with valid signatures. */
export interface OpenReceipt {
  receipt: Receipt;
  countersigned: Countersigned;
  /** Public keys: base64 of SPKI in DER. */
  machineKey: string;
  serviceKey: string;
}

/** A receipt or its events are not valid. The message says why. */
export class Unproven extends Error {}

/** @param at milliseconds since 1970 */
export function signReceipt(chain: SentChain, evidence: Evidence, key: KeyObject, at: number): Envelope {
  const { sessionId, agentId } = openCountersigned(evidence.countersignature).countersigned;
  const { start, chainKey, head, masked } = chain;
  const saltKeys = withoutSalts(
    saltKeysOf(chainKey),
    evidence.masked.map(({ sequence }) => sequence),
  );
  const receipt: Receipt = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: sessionId, digest: { sha256: head.hash } }],
    predicateType: 'urn:session-capture:receipt:v1',
    predicate: {
      agentId,
      start,
      events: head.sequence,
      head: head.hash,
      masked,
      maskedLater: evidence.masked,
      saltKeys: saltsUpTo(saltKeys, head.sequence),
      countersignature: evidence.countersignature,
      madeAt: new Date(at).toISOString(),
      madeBy: `capture ${VERSION}`,
    },
  };
  return signStatement(RECEIPT, receipt, key);
}

/** Checks a receipt without a network. @throws Unproven */
export function openReceipt(envelope: Envelope): OpenReceipt {
  const { statement: receipt, keyid } = open(envelope, RECEIPT, 'The receipt');
  if (!Value.Check(Receipt, receipt)) throw new Unproven('The receipt does not have the content of a receipt.');
  const { subject, predicate } = receipt;
  const { countersigned, serviceKey } = openCountersigned(predicate.countersignature);
  const [{ name, digest } = { name: '', digest: { sha256: '' } }] = subject;
  const isSame =
    subject.length === 1 &&
    digest.sha256 === predicate.head &&
    name === countersigned.sessionId &&
    (['agentId', 'start', 'events', 'head'] as const).every((field) => predicate[field] === countersigned[field]);
  if (!isSame) throw new Unproven('The machine and the service signed different statements.');
  const { maskedLater } = predicate;
  const list = digestOfMasked(maskedLater.map((one) => [one.sequence, one.digest]));
  if (countersigned.masked !== (maskedLater.length === 0 ? undefined : list)) {
    throw new Unproven('The service did not sign the list of events that were masked later.');
  }
  if (countersigned.machineKey !== keyid) {
    throw new Unproven('It is not signed with the first key that a machine registered for the session.');
  }
  return { receipt, countersigned, machineKey: keyid, serviceKey };
}

export function openCountersigned(envelope: Envelope): { countersigned: Countersigned; serviceKey: string } {
  const { statement, keyid } = open(envelope, COUNTERSIGNATURE, 'The countersignature');
  if (!Value.Check(Countersigned, statement))
    throw new Unproven('The countersignature does not have the content of a countersignature.');
  return { countersigned: statement, serviceKey: keyid };
}

function open(envelope: Envelope, type: string, what: string) {
  try {
    return openEnvelope(envelope, type);
  } catch (error) {
    throw new Unproven(`${what} is not valid: ${(error as Error).message}.`);
  }
}

/**
 * Checks the events of a session against its receipt.
 * @returns how many events were masked later; the content of these is not checked
 * @throws Unproven
 */
export function checkEvents({ predicate }: Receipt, events: Iterable<CheckedEvent>): number {
  const { start, events: sequence, head, maskedLater, saltKeys } = predicate;
  const masked = new Map(maskedLater.map((one) => [one.sequence, one.digest]));
  const counted: Masked = {};
  const problem = checkChain(
    { start, head: { sequence, hash: head }, masked, saltKeys },
    countingMarks(events, counted),
  );
  if (problem !== undefined) throw new Unproven(`${problem} ${MASKED_SINCE}`);
  // An event that was masked later has other marks than the event that was sent.
  if (masked.size > 0) return masked.size;
  const text = (counts: Masked) => JSON.stringify(Object.entries(counts).sort());
  if (text(counted) !== text(predicate.masked)) {
    throw new Unproven('The receipt and the events have different numbers of masked texts.');
  }
  return 0;
}

const MASKED_SINCE = 'If a text of the session was masked after the receipt was written, write a new receipt.';

function* countingMarks(events: Iterable<CheckedEvent>, counted: Masked): Generator<CheckedEvent> {
  for (const event of events) {
    countMarks(event.payload, counted);
    yield event;
  }
}

/** The events of a file. */
export interface EventsFile {
  events: Generator<CheckedEvent>;
  /** Whether the file begins with a line about the session, as a download of the dashboard does. It is not checked. */
  describesSession: boolean;
}

/**
 * Reads the events in a file: JSON lines with one event each, or pages of the service's answers. It yields one event at a
 * time, so that a long session is not in memory twice.
 * @throws Failure if the file is neither, also while the events are read
 */
export function readEventsFile(text: string): EventsFile {
  const lines = (isPage(text) ? [text] : text.split('\n')).filter((line) => line.trim() !== '');
  const [first = '', ...others] = lines;
  const describesSession = isAboutSession(first);
  return { events: readLines(describesSession ? others : lines), describesSession };
}

function* readLines(lines: readonly string[]): Generator<CheckedEvent> {
  for (const line of lines) {
    try {
      const members = membersOf(line);
      const page = members.get('events');
      const events = page === undefined ? [members] : itemsOf(page).map(membersOf);
      yield* events.map(toChecked);
    } catch (error) {
      const { message } = error as Error;
      throw new Failure(
        EXIT.usage,
        `The events cannot be read: ${message}.`,
        'Use a file with one JSON object per line.',
      );
    }
  }
}

function isPage(text: string): boolean {
  try {
    return Array.isArray((JSON.parse(text) as { events?: unknown } | null)?.events);
  } catch {
    return false;
  }
}

function isAboutSession(line: string): boolean {
  try {
    return Object.keys(JSON.parse(line) as object).join() === 'session';
  } catch {
    return false;
  }
}

function toChecked(members: ReadonlyMap<string, string>): CheckedEvent {
  const [sequence, eventType] = ['sequence', 'eventType'].map(
    (name) => JSON.parse(members.get(name) ?? 'null') as unknown,
  );
  const payload = members.get('payload');
  if (typeof sequence !== 'number' || typeof eventType !== 'string' || payload === undefined) {
    throw new Error('it contains something other than events');
  }
  return { sequence, eventType, payload };
}
