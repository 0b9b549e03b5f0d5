import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from './atomic-file.ts';
import type { Context } from './context.ts';
import { codeOf, EXIT, Failure } from './failure.ts';
import { readPlainFile } from './plain-file.ts';

/** The service that receives the captures. */
export interface Settings {
  url: string;
  secret: string;
}

export const DEFAULT_URL = 'http://127.0.0.1:4400';

/** The parts of the context that locate the state folder. */
export type StatePlace = Pick<Context, 'variables' | 'home'>;

/** The folder in which capture keeps its state. */
export const stateFolder = ({ variables, home }: StatePlace): string =>
  variables.CAPTURE_HOME || join(home, '.capture');

/** Reads the settings. The variables win over the sign-in that `capture login` stored. */
export function readSettings(context: StatePlace): Partial<Settings> {
  const { CAPTURE_URL, CAPTURE_SECRET } = context.variables;
  const stored = readJson<Partial<Settings>>(configPath(context), SIGN_IN_AGAIN) ?? {};
  const url = CAPTURE_URL || stored.url || (CAPTURE_SECRET ? DEFAULT_URL : undefined);
  const secret = CAPTURE_SECRET || stored.secret;
  return { ...(url && { url: checkUrl(url) }), ...(secret && { secret }) };
}

export function requireSettings(context: StatePlace): Settings {
  const { url, secret } = readSettings(context);
  if (url !== undefined && secret !== undefined) return { url, secret };
  const hint = 'Sign in with `capture login`, or set CAPTURE_URL and CAPTURE_SECRET.';
  throw new Failure(EXIT.signInRequired, 'You are not signed in.', hint);
}

export const writeSettings = (context: StatePlace, settings: Settings): void =>
  writeJson(configPath(context), settings);

/** Removes the secret and keeps the address for the next sign-in. Returns false if no secret was stored. */
export function removeSecret(context: StatePlace): boolean {
  const path = configPath(context);
  const { url, secret } = readStored(path) ?? {};
  if (url === undefined) rmSync(path, { force: true });
  else if (secret !== undefined) writeJson(path, { url });
  return secret !== undefined;
}

/** A damaged file counts as one with a secret, so it is removed too. */
function readStored(path: string): Partial<Settings> | undefined {
  try {
    return readJson<Partial<Settings>>(path);
  } catch {
    return { secret: '' };
  }
}

const SIGN_IN_AGAIN = 'Repair it, or delete it and sign in again with `capture login`.';

const configPath = (context: StatePlace) => join(stateFolder(context), 'config.json');

export function checkUrl(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') {
    throw new Failure(
      EXIT.usage,
      `${url} is not the address of a service.`,
      `It looks like ${DEFAULT_URL} or https://…`,
    );
  }
  return url.replace(/\/+$/, '');
}

/** The largest files are copies of agents' settings. */
const MAX_BYTES = 64 * 1024 * 1024;

/** @param hint tells a person how to fix a file that cannot be read */
export function readJson<Shape>(path: string, hint = 'Repair or delete it.'): Shape | undefined {
  try {
    return JSON.parse(readPlainFile(path, MAX_BYTES).toString('utf8')) as Shape;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new Failure(EXIT.failure, `${path} cannot be read.`, hint, error);
  }
}

/** Writes a file that only its owner can read, in one step. */
export function writeJson(path: string, value: object): void {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
  writeAtomically(path, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
}
