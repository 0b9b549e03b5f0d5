import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { SignedHead } from '../../contract/audit.ts';
import { formatCount } from '../../contract/count.ts';
import { type AuditKey, isSignedBy } from '../audit/heads.ts';

const Counts = Type.Object({
  organizations: Type.Integer(),
  people: Type.Integer(),
  machines: Type.Integer(),
  sessions: Type.Integer(),
  appends: Type.Integer(),
  events: Type.Integer(),
});

/** The most telling of the counts, for people. */
export const describeCounts = ({ organizations, sessions, events }: Static<typeof Counts>): string =>
  `${formatCount(organizations, 'organization')}, ${formatCount(sessions, 'session')} and ${formatCount(events, 'event')}`;

/** The file next to a backup that describes it. */
export const BackupManifest = Type.Object({
  kind: Type.Literal('session-capture backup'),
  /** The backup contains everything that was acknowledged before this time. */
  at: Type.String(),
  /** Whether the service made the backup by its schedule, and thus may remove it. */
  isScheduled: Type.Boolean(),
  /** The version of the service that wrote the backup. */
  version: Type.String(),
  /** The migrations of its schema. */
  schema: Type.Array(Type.String()),
  /** The version of its derived data. */
  derivedVersion: Type.Integer(),
  counts: Counts,
  bytes: Type.Integer(),
  sha256: Type.String(),
  auditHeads: Type.Array(SignedHead),
  holds: Type.Array(Type.String()),
  lacks: Type.Array(Type.String()),
  /** The key that signed the manifest, as PEM (SPKI). */
  publicKey: Type.String(),
  /** The signature of the canonical JSON of all other fields. */
  signature: Type.String(),
});
export type BackupManifest = Static<typeof BackupManifest>;

/** The path of a backup's manifest. */
export const manifestOf = (file: string) => `${file}.json`;

type Described = Omit<BackupManifest, 'kind' | 'holds' | 'lacks' | 'publicKey' | 'signature'>;

export function signManifest(described: Described, key: AuditKey): BackupManifest {
  const manifest = {
    kind: 'session-capture backup' as const,
    ...described,
    holds: ['everything in the embedded store: people, secrets (hashed), sessions, events, audit logs, settings'],
    lacks: [
      'the configuration, with SECRET_PEPPER and AUDIT_KEY where they are set',
      'audit-key.pem and audit-heads.jsonl of DATA_DIR: kept apart, they show a change of the store',
      'the mail outbox of DATA_DIR',
    ],
    publicKey: key.publicKey,
  };
  return { ...manifest, signature: key.signatureOf(manifest) };
}

/** @throws Error if the file is missing or is not a manifest */
export async function readManifest(file: string): Promise<BackupManifest> {
  const path = manifestOf(file);
  const text = await readFile(path, 'utf8').catch((cause) => {
    throw new Error(`${path} cannot be read. Each backup has such a file: copy it next to ${file}`, { cause });
  });
  const value = parse(text);
  if (!Value.Check(BackupManifest, value))
    throw new Error(`${path} does not describe a backup that this version can read`);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether the manifest is unchanged since its key signed it. */
export function isUnchanged({ signature, ...manifest }: BackupManifest): boolean {
  try {
    return isSignedBy(manifest.publicKey, manifest, signature);
  } catch {
    // The manifest contains no valid key.
    return false;
  }
}

/** The SHA-256 of a file in hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
