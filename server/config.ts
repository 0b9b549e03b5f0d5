import { existsSync, readFileSync } from 'node:fs';
import { Value } from 'typebox/value';
import { Email } from '../contract/organization.ts';
import type { RetentionBounds } from '../contract/retention.ts';
import { EMAIL_CLAIMS, type EmailClaim, isShared, lacksTenant } from './issuers.ts';

interface Option<Value> {
  default: Value;
  /** One sentence for the generated page. */
  about: string;
  parse: (text: string) => Value;
}

/** A parser returns the value in the form that the service uses, or throws an error that says what the value must be. */
const text = (value: string) => value;

const count = (value: string) => {
  if (!/^\d{1,9}$/.test(value)) throw new Error('must be a whole number, 0 or more');
  return Number(value);
};

const positive = (value: string) => {
  if (count(value) === 0) throw new Error('must be a whole number, 1 or more');
  return count(value);
};

const port = (value: string) => {
  if (count(value) > 65_535) throw new Error('must be a port, 65535 at most');
  return count(value);
};

const oneOf =
  <const Words extends readonly string[]>(words: Words) =>
  (value: string): Words[number] => {
    if (!words.includes(value)) throw new Error(`must be one of ${words.join(', ')}`);
    return value;
  };

const address = (protocols: readonly string[]) => (value: string) => {
  const protocol = URL.canParse(value) ? new URL(value).protocol : '';
  if (!protocols.includes(protocol))
    throw new Error(`must be an address starting with ${protocols.map((name) => `${name}//`).join(' or ')}`);
  return value.replace(/\/$/, '');
};

/** A public address. Paths are added to it. */
const publicAddress = (value: string) => {
  if (/[\s\p{C}]/u.test(value)) throw new Error('must have no line breaks, blanks or control characters');
  address(['http:', 'https:'])(value);
  if (/[?#]/.test(value)) throw new Error('must have no query and no fragment: paths are added to it');
  const { username, password, origin, pathname } = new URL(value);
  if (username !== '' || password !== '') throw new Error('must name no user and no password: everybody sees it');
  const path = pathname.replace(/\/+$/, '');
  // Pages, cookies and scripts contain the path, and a proxy may change an encoded one on the way.
  if (!/^(?:\/[\w.~-]+)*$/.test(path))
    throw new Error('must have a path of letters, digits, and the characters - . _ ~, without empty parts');
  return `${origin}${path}`;
};

const busAddresses = (value: string) => {
  const parse = address(['nats:', 'tls:']);
  return list(value).map(parse).join(',');
};

const mailbox = (value: string) => {
  if (!Value.Check(Email, value)) throw new Error('must be an e-mail address, such as capture@example.com');
  return value;
};

const userPool = (value: string) => {
  if (!/^[\w-]+_[0-9a-zA-Z]+$/.test(value))
    throw new Error('must be the id of a user pool, such as eu-central-1_Ab12Cd34E');
  return value;
};

const domain = (value: string) => address(['http:', 'https:'])(value.includes('://') ? value : `https://${value}`);

const list = (value: string) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const option = <Value>(preset: Value, about: string, parse: (text: string) => NoInfer<Value>): Option<Value> => ({
  default: preset,
  about,
  parse,
});
const optional = (about: string, parse: (text: string) => string): Option<string | undefined> =>
  option<string | undefined>(undefined, about, parse);

/** Every option of the service. `docs/configuration.md` is generated from this table. */
export const OPTIONS = {
  PORT: option(4400, 'Port to listen on; 0 picks a free one.', port),
  HOST: option('127.0.0.1', 'Address to listen on.', text),
  OPERATIONS_PORT: option<number | undefined>(
    undefined,
    'Port for `/livez`, `/readyz` and `/metrics` (Prometheus); absent: the service offers none of them.',
    port,
  ),
  DRAIN_SECONDS: option(
    0,
    'Seconds that the service keeps answering after it received a signal to stop, while `/readyz` already fails.',
    count,
  ),
  PUBLIC_URL: optional(
    'Address at which browsers and machines reach the service, such as `https://tools.example.com/capture`; absent: `HOST` and `PORT`.',
    publicAddress,
  ),
  SECURITY_CONTACT: optional(
    'Address for reports of weaknesses, which `/.well-known/security.txt` publishes, such as `mailto:security@example.com`; absent: that path is 404.',
    address(['mailto:', 'https:']),
  ),
  DATA_DIR: option('data', 'Folder for the embedded store, keys and the mail outbox.', text),
  DATABASE_URL: optional(
    'PostgreSQL database to use instead of the embedded store.',
    address(['postgres:', 'postgresql:']),
  ),
  DATABASE_LISTEN_URL: optional(
    'Address of the same PostgreSQL without a pooler, for `LISTEN` between replicas; absent: `DATABASE_URL`.',
    address(['postgres:', 'postgresql:']),
  ),
  BUS_URL: optional(
    'NATS servers with JetStream and `max_payload: 16MB`, separated by commas. They store appends until workers have written them to `DATABASE_URL`; absent: appends are written at once.',
    busAddresses,
  ),
  ROLE: option(
    'all',
    'With `BUS_URL`: what this process does: answer requests (`api`), write to the store (`worker`), or both (`all`).',
    oneOf(['all', 'api', 'worker']),
  ),
  IDENTITY_PROVIDER: option(
    'embedded',
    'Identity provider: `embedded`, `oidc` or `cognito`.',
    oneOf(['embedded', 'oidc', 'cognito']),
  ),
  SIGN_UP: option(
    'invited',
    'Accounts at the identity provider are for `invited` people, or `open` to anyone. With `open`, an invited person must confirm before joining.',
    oneOf(['invited', 'open']),
  ),
  FOUNDERS: option(
    'verified',
    'Who may create an organization: people whose e-mail address is `verified`, or `anyone` who can sign in.',
    oneOf(['verified', 'anyone']),
  ),
  OIDC_ISSUER: optional('Issuer of the identity provider `oidc`.', address(['http:', 'https:'])),
  OIDC_CLIENT_ID: optional('Client id of the dashboard at the identity provider `oidc`.', text),
  OIDC_EMAIL_CLAIM: option<EmailClaim>(
    'email',
    'Claim that contains the e-mail address of a person at the identity provider `oidc`: `email`, `preferred_username` or `upn`.',
    oneOf(EMAIL_CLAIMS),
  ),
  OIDC_TRUST_EMAIL: option(
    'off',
    '`issuer`: the e-mail addresses of all accounts of `OIDC_ISSUER` count as verified unless the token says otherwise, because one company administers it; `off`: only those that the token calls verified.',
    oneOf(['off', 'issuer']),
  ),
  COGNITO_USER_POOL_ID: optional(
    'User pool of the identity provider `cognito`, such as `eu-central-1_Ab12Cd34E`.',
    userPool,
  ),
  COGNITO_CLIENT_ID: optional('Client id of the dashboard in that user pool.', text),
  COGNITO_REGION: optional('Region of that user pool; absent: the one its id begins with.', text),
  COGNITO_DOMAIN: optional(
    'Domain of the sign-in pages of that user pool, such as `name.auth.eu-central-1.amazoncognito.com`; absent: read from the discovery document of the pool.',
    domain,
  ),
  COGNITO_ENDPOINT: optional(
    "Address of Cognito's API, if it is not Amazon's own, for instance an emulator.",
    address(['http:', 'https:']),
  ),
  ADOPT_MEMBERS: option(
    'off',
    '`verified-email`: a person with a verified e-mail takes over the membership of that e-mail under another identity provider; `off`: nobody does.',
    oneOf(['off', 'verified-email']),
  ),
  SMTP_URL: optional(
    'Mail server, `smtp://user:password@host:587` or `smtps://…`; absent: mails are files in `DATA_DIR/outbox`.',
    address(['smtp:', 'smtps:']),
  ),
  MAIL_FROM: optional('Sender of mails; absent: `no-reply@` and the host of `PUBLIC_URL`.', mailbox),
  SECRET_PEPPER: optional(
    'Key under which secrets are hashed; absent: the service creates one and keeps it in the store.',
    text,
  ),
  RATE_LIMIT_SECRET: option(600, 'Requests a minute for each organization secret; 0 turns the limit off.', count),
  RATE_LIMIT_USER: option(300, 'Requests a minute for each person; 0 turns the limit off.', count),
  RATE_LIMIT_DIRECTORY: option(
    1_500,
    'Requests a minute for each directory that provisions members; 0: no limit.',
    count,
  ),
  RATE_LIMIT_ADDRESS: option(
    120,
    'Requests a minute for each address (IPv6: each /64) on public routes and sign-in pages, and for failed authentication; 0 turns the limit off.',
    count,
  ),
  BODY_MEMORY_MB: option(
    256,
    'Megabytes of request bodies in memory at a time, at most a quarter of them for one caller; more are answered 503. The largest appends need 108.',
    count,
  ),
  QUOTA_DAY_MB: option(
    100_000,
    'Megabytes of uncompressed events that an organization may send on a day (UTC); 0: any amount.',
    count,
  ),
  QUOTA_GB: option(0, 'Gigabytes of uncompressed events that an organization may have; 0: any amount.', count),
  RETENTION_DAYS: option(
    0,
    'Days after its last event until a session is deleted, unless a rule of its organization says otherwise; 0: sessions are kept.',
    count,
  ),
  RETENTION_MIN_DAYS: option(
    0,
    'The fewest days that a policy may set until content is removed or sessions are deleted; 0: any number.',
    count,
  ),
  RETENTION_MAX_DAYS: option<number | undefined>(
    undefined,
    'The most days that sessions are kept, even if a policy allows more; 0: any number. Absent: `RETENTION_DAYS`.',
    count,
  ),
  AUDIT_KEY: optional(
    'Ed25519 private key (PEM) that signs the heads of audit logs, the same for all replicas; absent: a key that the service derives from `SECRET_PEPPER`, or otherwise creates as `audit-key.pem` in `DATA_DIR`.',
    text,
  ),
  AUDIT_HEADS: optional(
    'File for signed heads of audit logs; keep it where the administrators of the store cannot write. Absent: `audit-heads.jsonl` in `DATA_DIR`.',
    text,
  ),
  BACKUP_DIR: optional(
    'Folder for backups of the embedded store. The service creates them while it runs; absent: it creates none.',
    text,
  ),
  BACKUP_EVERY_HOURS: option(24, 'Hours between two backups in `BACKUP_DIR`, 1 or more.', positive),
  BACKUP_KEEP: option(7, 'Backups that stay in `BACKUP_DIR`, 1 or more; older ones are removed.', positive),
  PRICES_FILE: optional(
    'File with prices of models, which replace the list prices of these models; `docs/prices.md` has its form.',
    text,
  ),
  CORS_ORIGINS: option<string[]>(
    [],
    'Other origins that may call the service from a browser, separated by commas.',
    list,
  ),
  TRUST_PROXY: option<string[]>(
    [],
    'Addresses of proxies whose `X-Forwarded-For` is trusted, separated by commas.',
    list,
  ),
  LOG_LEVEL: option(
    'info',
    'Least severe messages to log.',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
};

export type Config = { [Name in keyof typeof OPTIONS]: (typeof OPTIONS)[Name]['default'] };

const NEEDED_BY: Record<string, readonly (keyof Config)[]> = {
  oidc: ['OIDC_ISSUER', 'OIDC_CLIENT_ID'],
  cognito: ['COGNITO_USER_POOL_ID', 'COGNITO_CLIENT_ID'],
};

/** Every error in the configuration. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem(s):\n${problems.map((line) => `  - ${line}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads the options from the environment. `NAME_FILE` may name a file that holds the value of `NAME`.
 * @throws ConfigError naming every option that is wrong
 */
export function readConfig(variables: Record<string, string | undefined>): Config {
  const problems: string[] = [];
  const values = Object.entries<Option<unknown>>(OPTIONS).map(([name, { default: preset, parse }]) => {
    try {
      const given = readValue(variables, name);
      return [name, given === undefined ? preset : parse(given)];
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`);
      return [name, preset];
    }
  });
  const config = Object.fromEntries(values) as Config;
  for (const name of NEEDED_BY[config.IDENTITY_PROVIDER] ?? []) {
    if (config[name] === undefined) problems.push(`${name} is needed by IDENTITY_PROVIDER=${config.IDENTITY_PROVIDER}`);
  }
  problems.push(...wrongIssuer(config));
  if (config.BUS_URL !== undefined && config.DATABASE_URL === undefined) {
    problems.push('BUS_URL needs DATABASE_URL: the embedded store belongs to one process and cannot use a bus');
  }
  if (config.BACKUP_DIR !== undefined && config.DATABASE_URL !== undefined) {
    problems.push('BACKUP_DIR is for the embedded store: pg_dump backs up DATABASE_URL; docs/backup.md says how');
  }
  problems.push(...wrongBounds(config));
  if (config.ROLE !== 'all' && config.BUS_URL === undefined) {
    problems.push('ROLE needs BUS_URL: without a bus there is nothing for a worker to do');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function wrongIssuer({ OIDC_ISSUER: issuer, OIDC_TRUST_EMAIL: trust, SIGN_UP: signUp }: Config): string[] {
  const problems: string[] = [];
  if (issuer !== undefined && lacksTenant(issuer)) {
    problems.push(
      'OIDC_ISSUER must name one tenant by its id, https://login.microsoftonline.com/TENANT-ID/v2.0: the tokens of all other addresses name another issuer',
    );
  }
  if (trust !== 'issuer') return problems;
  if (issuer !== undefined && isShared(issuer)) {
    problems.push(
      'OIDC_TRUST_EMAIL=issuer is for an issuer that one company administers. People of many companies have accounts at this OIDC_ISSUER, and could sign in with the e-mail address of somebody else',
    );
  }
  if (signUp === 'open') {
    problems.push(
      'OIDC_TRUST_EMAIL=issuer contradicts SIGN_UP=open: if anyone may have an account, nobody can vouch for the e-mail addresses of all',
    );
  }
  return problems;
}

/** The days that policies may set, in the form of the contract. */
export function retentionBounds(config: Config): RetentionBounds {
  const { RETENTION_DAYS: days, RETENTION_MIN_DAYS: minDays, RETENTION_MAX_DAYS: maxDays = days } = config;
  return {
    ...(days > 0 && { defaultDays: days }),
    ...(minDays > 0 && { minDays }),
    ...(maxDays > 0 && { maxDays }),
  };
}

function wrongBounds(config: Config): string[] {
  const { defaultDays, minDays = 0, maxDays = Number.POSITIVE_INFINITY } = retentionBounds(config);
  if (minDays > maxDays)
    return ['RETENTION_MIN_DAYS must not be more than RETENTION_MAX_DAYS, or RETENTION_DAYS without it'];
  const isWithin = defaultDays === undefined || (defaultDays >= minDays && defaultDays <= maxDays);
  return isWithin ? [] : ['RETENTION_DAYS must be between RETENTION_MIN_DAYS and RETENTION_MAX_DAYS'];
}

function readValue(variables: Record<string, string | undefined>, name: string): string | undefined {
  const file = variables[`${name}_FILE`];
  if (file) {
    if (!existsSync(file)) throw new Error(`cannot be read: there is no file ${file}`);
    return readFileSync(file, 'utf8').trimEnd();
  }
  return variables[name] === '' ? undefined : variables[name];
}
