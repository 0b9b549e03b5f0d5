import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readKey } from '../../redact/key.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { openPolicy } from '../pipeline.ts';
import { ensureConsent } from '../privacy/consent.ts';
import { narrowToConsent } from '../privacy/narrow.ts';
import type { Policy } from '../privacy/policy.ts';
import { createRecordHash } from '../read/identity.ts';
import { createReader } from '../read/reader.ts';
import { openSpool, type Spool } from '../spool/open.ts';

/** The state that a daemon keeps between two scans. */
export interface Live {
  spool: Spool;
  policy: Policy;
  reader: ReturnType<typeof createReader>;
  /** The person's wishes when it was opened. */
  wishes: string;
}

/** Opens the spool and a reader as a daemon does. */
export function openLive(context: Context, since: number, now: () => number): Live {
  const folder = stateFolder(context);
  const spool = openSpool(join(folder, 'spool.db'));
  const policy = openPolicy(context, spool);
  policy.refresh();
  policy.store();
  const { isNew: _, ...consent } = ensureConsent(spool.decisions, since);
  narrowToConsent(spool, policy);
  const reader = createReader({
    spool,
    policy,
    consent,
    state: folder,
    // Masking does not affect which sessions are kept back.
    redactor: { redact: (events) => [...events] },
    hashRecord: createRecordHash(readKey(folder)),
    now,
    newKey: context.newKey,
    patienceMs: 0,
    onTrouble: ({ path, reason }) => expect.fail(`${path}: ${reason}`),
  });
  return { spool, policy, reader, wishes: wishesOf(context, spool) };
}

/** Whether the person's wishes have changed; a daemon then restarts its capture. */
export const isOutdated = (context: Context, { spool, wishes }: Live): boolean => wishesOf(context, spool) !== wishes;

function wishesOf(context: Context, { decisions }: Spool): string {
  const { mtimeMs } = statSync(join(stateFolder(context), 'preferences.json'), { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${decisions.revision()}`;
}
