import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { Value } from 'typebox/value';
import { SignedHead } from '../../contract/audit.ts';
import { type Envelope, ed25519Of, keyIdOf, signStatement } from '../../contract/dsse.ts';
import type { Config } from '../config.ts';
import { listAuditHeads } from '../store/audit.ts';
import type { ChainHead } from '../store/audit-chain.ts';
import type { Db } from '../store/schema.ts';

/**
 * How often heads are signed. Somebody with access to the store, but without the key, can rewrite at most this much of a log
 * unnoticed.
 */
export const SIGN_EVERY_MS = 3_600_000;
/** Heads that changed this shortly before a signing are signed again, because the clocks of replicas differ. */
const OVERLAP_MS = 60_000;

/** Signs heads with Ed25519. */
export class AuditKey {
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;
  readonly #id: string;

  constructor(privateKey: KeyObject) {
    this.#privateKey = privateKey;
    this.#publicKey = createPublicKey(privateKey);
    this.#id = keyIdOf(this.#publicKey);
  }

  /** The public key as PEM (SPKI). */
  get publicKey(): string {
    return this.#publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  /** @param at epoch milliseconds */
  sign(organizationId: string, { sequence, hash }: ChainHead, at: number): SignedHead {
    const head = { organizationId, sequence, hash, at: new Date(at).toISOString() };
    return { ...head, signature: this.signatureOf(head) };
  }

  /** The signature of the canonical JSON of a value (RFC 8785), in base64. */
  signatureOf(value: object): string {
    return sign(null, bytesOf(value), this.#privateKey).toString('base64');
  }

  /** The statement in an envelope (DSSE). */
  statementOf(payloadType: string, statement: object): Envelope {
    return signStatement(payloadType, statement, this.#privateKey, this.#id);
  }

  /** Whether this key signed it, rather than an earlier key of the service. */
  hasSigned({ signatures }: Envelope): boolean {
    return signatures.every(({ keyid }) => keyid === this.#id);
  }

  isOwn({ signature, ...head }: SignedHead): boolean {
    return isSignedBy(this.#publicKey, head, signature);
  }
}

/** @param publicKey in PEM, or as a key */
export const isSignedBy = (publicKey: string | KeyObject, value: object, signature: string): boolean =>
  verify(null, bytesOf(value), publicKey, Buffer.from(signature, 'base64'));

const bytesOf = (value: object) => Buffer.from(canonicalize(value) ?? '');

type KeyConfig = Pick<Config, 'AUDIT_KEY' | 'DATA_DIR' | 'SECRET_PEPPER'>;

/**
 * Reads the key that signs heads: `AUDIT_KEY`; otherwise a key derived from `SECRET_PEPPER`, which replicas share; otherwise
 * the key in the data folder.
 * @param isMade whether a missing key is created in the data folder
 * @throws if there is none, or `AUDIT_KEY` is not an Ed25519 private key
 */
export function readAuditKey({ AUDIT_KEY, SECRET_PEPPER, DATA_DIR }: KeyConfig, isMade = true): AuditKey {
  if (AUDIT_KEY === undefined && SECRET_PEPPER !== undefined) return new AuditKey(deriveKey(SECRET_PEPPER));
  const key = createPrivateKey(AUDIT_KEY ?? keyIn(DATA_DIR, isMade));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('AUDIT_KEY must be an Ed25519 private key in PEM');
  return new AuditKey(key);
}

const deriveKey = (pepper: string): KeyObject =>
  ed25519Of(Buffer.from(hkdfSync('sha256', pepper, '', 'heads of audit logs', 32)));

function keyIn(dataDir: string, isMade: boolean): string {
  const path = join(dataDir, 'audit-key.pem');
  if (!isMade) {
    if (existsSync(path)) return readFileSync(path, 'utf8');
    throw new Error(`there is no ${path}; set DATA_DIR, AUDIT_KEY or SECRET_PEPPER as the service has it`);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  try {
    const made = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    writeFileSync(path, made, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8');
}

/** The file for signed heads. */
export const auditHeadsFile = ({ AUDIT_HEADS, DATA_DIR }: Pick<Config, 'AUDIT_HEADS' | 'DATA_DIR'>) =>
  AUDIT_HEADS ?? join(DATA_DIR, 'audit-heads.jsonl');

export interface AuditHeadsOptions {
  db: Db;
  key: AuditKey;
  /** The file for signed heads, one line of JSON each. */
  file: string;
  /** Called with each signed head, so that the service's log keeps it as well. */
  onSigned?: (head: SignedHead) => void;
  now: () => number;
}

/** Writes signed heads to a file outside the store, so that a truncated or rewritten log is noticed. */
export class AuditHeads {
  readonly #options: AuditHeadsOptions;
  #signedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: AuditHeadsOptions) {
    this.#options = options;
  }

  /** Signs the heads that changed since the last time. */
  async sign(): Promise<void> {
    const { db, key, now } = this.#options;
    const at = now();
    const changed = await listAuditHeads(db, Math.max(0, this.#signedUntil - OVERLAP_MS));
    await this.#write(changed.map((row) => key.sign(row.organization_id, row, at)));
    this.#signedUntil = at;
  }

  /** Records that an organization was deleted with its log, so that the missing log is not a finding. */
  async end(organizationId: string): Promise<void> {
    const { key, now } = this.#options;
    await this.#write([key.sign(organizationId, ENDED, now())]);
  }

  async #write(heads: readonly SignedHead[]): Promise<void> {
    if (heads.length === 0) return;
    for (const head of heads) this.#options.onSigned?.(head);
    await removeHalfLine(this.#options.file);
    const file = await open(this.#options.file, 'a', 0o600);
    try {
      // Half a line remains in a file that can only grow.
      await file.write(`\n${heads.map((head) => JSON.stringify(head)).join('\n')}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
  }
}

/** The head of a deleted log: no entry has this hash. */
const ENDED: ChainHead = { sequence: 0, hash: 'f'.repeat(64) };

/** Signed heads of a file. */
export interface KnownHeads {
  byOrganization: Map<string, SignedHead[]>;
  /** Organizations that were deleted with their logs. */
  ended: Set<string>;
  /** Numbers of the lines that are not a head with a signature of this key. A last line that a crash cut off does not count. */
  foreignLines: number[];
}

/** @throws if the file cannot be read */
export async function readHeads(path: string, key: AuditKey): Promise<KnownHeads> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const byOrganization = new Map<string, SignedHead[]>();
  const ended = new Set<string>();
  const foreignLines: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const head = parseHead(line);
    if (head === undefined && isCutOff(lines, index)) continue;
    if (head === undefined || !key.isOwn(head)) foreignLines.push(index + 1);
    else if (head.hash === ENDED.hash) ended.add(head.organizationId);
    else byOrganization.set(head.organizationId, [...(byOrganization.get(head.organizationId) ?? []), head]);
  }
  return { byOrganization, ended, foreignLines };
}

/** How many organizations have heads in a file, whoever signed them, without those that were deleted. */
export function readOrganizations(path: string): number {
  const last = new Map<string, string>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const head = parseHead(line);
    if (head) last.set(head.organizationId, head.hash);
  }
  return [...last.values()].filter((hash) => hash !== ENDED.hash).length;
}

/** A crash can cut off only the last line, because the next start removes the half line before it writes. */
const isCutOff = (lines: readonly string[], index: number) => index === lines.length - 1;

/** How many bytes a line may have. */
const MAX_LINE = 4_096;

/** Removes the half line that a crash left at the end. */
async function removeHalfLine(path: string): Promise<void> {
  const file = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    // The file does not exist yet, or its system allows only additions.
    if (['ENOENT', 'EPERM', 'EACCES'].includes(error.code ?? '')) return undefined;
    throw error;
  });
  try {
    const { size } = (await file?.stat()) ?? { size: 0 };
    const begin = Math.max(0, size - MAX_LINE);
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(MAX_LINE), 0, MAX_LINE, begin)) ?? {
      buffer: Buffer.alloc(0),
      bytesRead: 0,
    };
    const last = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
    const line = buffer.toString('utf8', last, bytesRead);
    if (line !== '' && last > 0 && parseHead(line) === undefined) await file?.truncate(begin + last);
  } finally {
    await file?.close();
  }
}

function parseHead(line: string): SignedHead | undefined {
  try {
    const value = JSON.parse(line) as { head?: unknown } | null;
    // A line of the service's log contains the head in a field.
    const head: unknown = value?.head ?? value;
    return Value.Check(SignedHead, head) ? head : undefined;
  } catch {
    return undefined;
  }
}
