import { existsSync } from 'node:fs';
import { findSpool, recallAccount } from '../account.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { openSpool, type Spool } from '../spool/open.ts';

type Where = Pick<Context, 'variables' | 'home'>;

/** The path of the spool of whoever is signed in, without asking the service; undefined where there is none yet. */
export function locateSpool(context: Where): string | undefined {
  const folder = stateFolder(context);
  const settings = readSettings(context);
  const { url, secret } = settings;
  const path = findSpool(folder, settings, url && secret ? recallAccount(url, secret, folder) : undefined);
  return path !== undefined && existsSync(path) ? path : undefined;
}

/** Opens it; a `Failure` where nothing was captured yet. */
export function requireSpool(context: Where): Spool {
  const path = locateSpool(context);
  if (path !== undefined) return openSpool(path);
  throw new Failure(EXIT.usage, 'Nothing was captured yet.', 'See `capture import --dry-run`.');
}
