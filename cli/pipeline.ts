import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, identifyAccount, openAccountSpool } from './account.ts';
import { requireSettings, type Settings, stateFolder } from './config.ts';
import type { Context } from './context.ts';
import type { Trouble } from './read/discover.ts';
import { createReader } from './read/reader.ts';
import { readKey } from './redact/key.ts';
import { createRedactor } from './redact/redactor.ts';
import { findRepository, findRoot } from './repository.ts';
import type { Spool } from './spool/open.ts';
import { createGate } from './upload/gate.ts';
import { createRegistration } from './upload/registration.ts';
import { createService } from './upload/service.ts';
import { createUploader } from './upload/uploader.ts';

export interface Pipeline {
  settings: Settings;
  folder: string;
  account: Account | undefined;
  spool: Spool;
}

/** A session is complete when its agent has been silent for this long. */
const QUIET_MS = 60 * 60 * 1000;

export async function openPipeline(context: Context): Promise<Pipeline> {
  const settings = requireSettings(context);
  const folder = stateFolder(context);
  const service = createService({ ...settings, fetch: context.fetch, timeoutMs: 10_000 });
  const { account } = await identifyAccount(service, settings.secret, folder);
  return { settings, folder, account, spool: openAccountSpool(folder, account) };
}

export interface ReaderChoices {
  patienceMs: number;
  onTrouble: (trouble: Trouble) => void;
}

export function openReader(
  context: Context,
  { folder, settings }: Pick<Pipeline, 'folder' | 'settings'>,
  spool: Spool,
  choices: ReaderChoices,
) {
  const { variables, home, now, newKey } = context;
  const redactor = createRedactor({ variables, home, secrets: [settings.secret], key: readKey(folder), now });
  return createReader({ spool, redactor, now, newKey, ...choices });
}

export interface SenderChoices {
  signal: AbortSignal;
  onSent?: (events: number) => void;
  onTrouble?: (sentence: string) => void;
}

export function openSender(
  context: Context,
  { settings, spool }: Pipeline,
  { signal, onSent, onTrouble }: SenderChoices,
) {
  const { fetch, random, now, hostname, platform, folder } = context;
  const service = createService({ ...settings, fetch });
  const gate = createGate({ random, signal, ...(onTrouble && { onTrouble }) });
  const registration = createRegistration(service, gate, { hostname, platform, repository: findRepository(folder) });
  const uploader = createUploader({
    ...{ spool, service, gate, registration, signal, now, findRepository: findRoot },
    quietMs: QUIET_MS,
    ...(onSent && { onSent }),
  });
  return { gate, registration, uploader };
}

/** What may lie in the spool before reading waits for sending. */
export const SPOOL_BYTES = 64 * 1024 * 1024;

/** Lets requests move on between two commits; longer while the spool is full. */
export async function giveWay(spool: Spool, isStopped: () => boolean): Promise<void> {
  await sleep(0);
  while (spool.batches.bytes() > SPOOL_BYTES && !isStopped()) await sleep(20);
}
