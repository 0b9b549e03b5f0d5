import type { MsgHdrs } from '@nats-io/transport-node';
import pg from 'pg';
import type { ApplyResult, NewAppend, NewClose, NewDeletion } from '../store/postgres-apply.ts';
import { readPlace } from './entry.ts';
import { entryOf } from './logged.ts';

/** What a message requires the store to do; empty if nothing. */
export interface Task {
  append?: NewAppend;
  close?: NewClose;
  deletion?: NewDeletion;
}

/** Why a message with that result cannot be written. */
export const REASONS: Partial<Record<ApplyResult, string>> = {
  gap_before: 'events before this close are not in the store',
  conflicts: 'it contradicts the store, or its session does not exist',
};

/** SQLSTATE classes "data exception" and "integrity constraint violation". */
const OWN_FAULT = /^2[23]/;

/** Whether the message itself is at fault and can never be written, and not the store, its schema or a grant. */
export const isOwnFault = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && OWN_FAULT.test(error.code ?? '');

/**
 * Reads from a message what the store must do.
 * @param at epoch milliseconds, used for entries without their own time
 * @returns the reason as a sentence if the message cannot be read
 */
export function readTask(
  { subject, headers, data }: { subject: string; headers: MsgHdrs | undefined; data: Uint8Array },
  at: number,
): Task | string {
  const place = readPlace(subject);
  const entry = entryOf(headers);
  if (!place || !entry) return 'this version does not understand it';
  if (entry.kind === 'closed') return { close: { ...place, ...entry } };
  if (entry.kind === 'deleted') {
    const { by, isExpired = false } = entry;
    return { deletion: { ...place, at, isExpired, by } };
  }
  if (entry.kind !== 'append') return {};
  return { append: { ...place, ...entry, otherSecretId: entry.otherSecretId ?? null, body: data } };
}
