import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readJson, readSettings, type Settings, stateFolder, writeJson } from './config.ts';
import type { Context } from './context.ts';
import { EXIT, Failure } from './failure.ts';
import { damageOf } from './spool/damage.ts';
import { openOrReplace, openSpool, type Spool } from './spool/open.ts';
import { explainRefusal, isTemporary } from './upload/problem.ts';
import { requireId, type Service } from './upload/service.ts';

/**
 * The account that a secret captures for. A spool belongs to one account, so events captured for one account never reach
 * another.
 */
export interface Account {
  /** Equal for all secrets of one organization and plane, so that a secret or the service's address may change. */
  id: string;
  organizationName?: string;
  plane: string;
}

/**
 * Asks the service for the account. Its last answer counts while it cannot be reached. With `recalls`, the last answer also
 * counts if the service refuses the secret.
 */
export async function identifyAccount(
  service: Service,
  secret: string,
  folder: string,
  recalls: boolean,
): Promise<Account | undefined> {
  const known = recallAccount({ url: service.url, secret }, folder);
  try {
    const account = await askAccount(service);
    if (!isDeepStrictEqual(account, known)) writeJson(accountPath(folder, service.url, secret), account);
    return account;
  } catch (error) {
    if (isTemporary(error) || (recalls && known)) return known;
    throw explainRefusal(error);
  }
}

/** The service's last answer. Undefined if nobody is signed in, or if the file is damaged: it is only a cache. */
export function recallAccount({ url, secret }: Partial<Settings>, folder: string): Account | undefined {
  if (!url || !secret) return undefined;
  try {
    return readJson<Account>(accountPath(folder, url, secret));
  } catch {
    return undefined;
  }
}

/** There is one file per secret, so that two programs that sign in at once do not overwrite each other's answer. */
const accountPath = (folder: string, url: string, secret: string) =>
  join(folder, 'accounts', `${nameOf(url, secret)}.json`);
const nameOf = (url: string, secret: string) => digest(`${url} ${secret}`);

/** Throws a `ServiceError` if the service does not accept the secret. */
export async function askAccount(service: Service): Promise<Account> {
  const { organizationId, organizationName, secretEnvironment } = (await service.client.identifySecret({})).body;
  const id = `${requireId(organizationId)} ${secretEnvironment}`;
  return { id, organizationName, plane: secretEnvironment };
}

/** The account's spool. A spool that was filled before the service could be asked belongs to the secret until then. */
export function openAccountSpool(
  folder: string,
  settings: Settings,
  account: Account | undefined,
  now: () => number,
): Spool {
  const path = findSpool(folder, settings, account);
  if (path === undefined) {
    throw new Failure(
      EXIT.temporary,
      'The service cannot be reached, so capture does not know yet which organization this secret belongs to.',
      'Try again when the service can be reached. Nothing was captured, and nothing is lost.',
    );
  }
  const owner = account?.id ?? provisionalId(settings);
  const spool = openOrReplace(path, now);
  spool.setMeta('account', owner);
  return spool;
}

/** The path of the signed-in account's spool, without asking the service. Undefined if it has none yet. */
export function locateSpool(context: Pick<Context, 'variables' | 'home'>): string | undefined {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const path = findSpool(folder, settings, recallAccount(settings, folder));
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Undefined while the account is unknown. */
export function findSpool(
  folder: string,
  settings: Partial<Settings>,
  account: Account | undefined,
): string | undefined {
  const first = join(folder, 'spool.db');
  const owner = ownerOf(first);
  if (owner === undefined || owner === account?.id || owner === provisionalId(settings)) return first;
  return account && join(folder, `spool-${digest(account.id)}.db`);
}

function ownerOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const spool = openSpool(path);
    try {
      return spool.getMeta('account');
    } finally {
      spool.close();
    }
  } catch (error) {
    // Nothing of a damaged spool is taken over, so it may belong to any account.
    if (damageOf(error) !== 'damaged') throw error;
    return undefined;
  }
}

const provisionalId = ({ url = '', secret = '' }: Partial<Settings>) => `secret ${nameOf(url, secret)}`;

const digest = (text: string) => hash('sha256', text).slice(0, 16);
