import type { Visibility } from '../contract/session.ts';
import { readKey } from '../redact/key.ts';
import { createRedactor, type Redactor } from '../redact/redactor.ts';
import { type Account, identifyAccount, openAccountSpool } from './account.ts';
import { requireSettings, type Settings, stateFolder } from './config.ts';
import { type Context, credentialsOf } from './context.ts';
import { createKnownValues } from './machine-secrets/known-values.ts';
import { narrowToConsent } from './privacy/narrow.ts';
import { createPolicy, type Policy } from './privacy/policy.ts';
import { readPreferences } from './privacy/preferences.ts';
import { findRepository, type Repository } from './repository.ts';
import { openSpool, type Spool } from './spool/open.ts';
import type { SessionRow } from './spool/sessions.ts';
import { createService } from './upload/service.ts';

/** The account and service of the captures, and the spool between reading and sending. */
export interface Pipeline {
  settings: Settings;
  folder: string;
  account: Account | undefined;
  spool: Spool;
  policy: Policy;
}

const IDENTIFY_MS = 10_000;

/**
 * Fails if the service refuses the secret. With `recalls`, it uses the account that the service named when it last accepted
 * the secret.
 */
export async function openPipeline(context: Context, { recalls = false } = {}): Promise<Pipeline> {
  const settings = requireSettings(context);
  const folder = stateFolder(context);
  const service = createService({ ...settings, fetch: context.fetch, timeoutMs: IDENTIFY_MS });
  const account = await identifyAccount(service, settings.secret, folder, recalls);
  const spool = openAccountSpool(folder, settings, account, context.now);
  // This comes before anything is sent, because waiting events may be excluded by now.
  const policy = openPolicy(context, spool);
  policy.refresh();
  policy.store();
  narrowToConsent(spool, policy);
  return { settings, folder, account, spool, policy };
}

/** The person's policy, from the settings and from earlier decisions. */
export const openPolicy = (context: Context, { decisions, transact, batches }: Spool): Policy =>
  createPolicy({ ...context, decisions, transact, unfinished: batches.unfinished });

/** The repository around a folder, unless the folder is kept back. */
export function findAllowedRepository(policy: Policy, folder: string): Repository | 'kept back' | undefined {
  try {
    // Only this place learns about the change. Unless it is stored, sessions are sent that a folder has kept back meanwhile.
    if (policy.refresh()) policy.store();
    return policy.objectionToFolder(folder) === undefined ? findRepository(folder) : 'kept back';
  } catch {
    // While the settings cannot be read, nobody knows which folders are excluded.
    return 'kept back';
  }
}

/** Who may see a session. Throws a `Failure` while the settings cannot be read. */
export function visibilityOf(
  spool: Spool,
  policy: Policy,
  { agent, agentSession, cwd }: Pick<SessionRow, 'agent' | 'agentSession' | 'cwd'>,
  about: { isNew: boolean },
): Visibility {
  if (policy.refresh()) policy.store();
  const ofFiles = spool.files.ofSession(agent, agentSession).map(({ origin }) => origin.cwd);
  const folders = new Set([cwd, ...ofFiles].filter((folder) => folder !== undefined));
  return policy.visibilityOf(agent, agentSession, { ...about, folders: [...folders] });
}

/** The repository of the current folder, if its sessions may be captured. Otherwise nobody may learn of it. */
export function findOwnRepository(context: Context): Repository | undefined {
  const spool = openSpool(':memory:');
  try {
    const policy = openPolicy(context, spool);
    policy.refresh();
    return policy.objectionToFolder(context.folder) === undefined ? findRepository(context.folder) : undefined;
  } catch {
    // While the settings cannot be read, nobody knows which folders are excluded.
    return undefined;
  } finally {
    spool.close();
  }
}

/** Masks the secrets of this machine, except those that this person lets through. */
export function openRedactor(
  context: Context,
  { folder, settings }: { folder: string; settings: Partial<Settings> },
): Redactor {
  const { variables, home, now } = context;
  const secrets = settings.secret === undefined ? [] : [settings.secret];
  const { allow = [] } = readPreferences(context).redaction ?? {};
  return createRedactor({
    known: (add) => createKnownValues({ variables, home, credentials: credentialsOf(context), secrets, now }, add),
    key: readKey(folder),
    allow,
  });
}
