import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createZstdDecompress } from 'node:zlib';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isSignedBy } from '../audit/heads.ts';
import type { MovedRow } from '../store/move.ts';
import type { MovedTable } from '../store/tables.ts';

/*
 * An exported organization, or one person of it, is one file of JSON lines, compressed with zstd. The first line is the header,
 * then each row has a line, and the last line is the manifest. `zstd -dc FILE` shows it.
 */

export const KIND = 'session-capture export';
/** One person's data cannot be imported, because it refers to rows of the organization. */
export const PERSON_KIND = 'session-capture export of a person';

export const Header = Type.Object({
  kind: Type.Union([Type.Literal(KIND), Type.Literal(PERSON_KIND)]),
  at: Type.String(),
  /** The version of the service that wrote the file. */
  version: Type.String(),
  /** The migrations of its schema, which determine the columns of the rows. */
  schema: Type.Array(Type.String()),
  organizationId: Type.String(),
  /** The person whose data this is; absent: the whole organization. */
  userId: Type.Optional(Type.String()),
});
export type Header = Static<typeof Header>;

/** A row of a table. A row of `appends` has the events instead of their compressed form. */
export interface PartLine {
  part: MovedTable;
  row: MovedRow;
}

const Part = Type.Object({ part: Type.String(), rows: Type.Integer(), sha256: Type.String() });
type Part = Static<typeof Part>;

export const Manifest = Type.Object({
  manifest: Type.Object({
    header: Header,
    /** The number and SHA-256 of the lines of each table, including line feeds, in order. */
    parts: Type.Array(Part),
    publicKey: Type.String(),
  }),
  /** The signature of the canonical JSON of `manifest` with the audit key. */
  signature: Type.String(),
});
export type Manifest = Static<typeof Manifest>;

/** Computes the number of rows and the SHA-256 of each part, line by line. */
export class Parts {
  readonly #parts = new Map<string, { rows: number; hash: ReturnType<typeof createHash> }>();

  add(part: string, line: string): void {
    const known = this.#parts.get(part) ?? { rows: 0, hash: createHash('sha256') };
    this.#parts.set(part, known);
    known.rows++;
    known.hash.update(`${line}\n`);
  }

  end(): Part[] {
    return [...this.#parts].map(([part, { rows, hash }]) => ({ part, rows, sha256: hash.digest('hex') }));
  }
}

/** The header and row counts of a verified export. */
export interface ExportFile {
  header: Header;
  rowsOf: Map<string, number>;
  /** The key that signed it, as PEM (SPKI). */
  publicKey: string;
}

/**
 * Reads an export to its end, and compares it with its manifest.
 * @throws if it is not the export of an organization, is incomplete, or was changed
 */
export async function verifyFile(path: string): Promise<ExportFile> {
  const parts = new Parts();
  let header: unknown;
  let end: unknown;
  for await (const line of linesOf(path)) {
    const value = parse(line);
    if (header === undefined) header = value;
    else if (end !== undefined) throw new Error(`${path} has lines after its manifest`);
    else if (isPartLine(value)) parts.add(value.part, line);
    else end = value;
  }
  if (!Value.Check(Header, header))
    throw new Error(`${path} is not an exported organization that this version can read`);
  if (header.kind !== KIND) throw new Error(`${path} contains one person's data, which cannot be imported`);
  if (!Value.Check(Manifest, end)) throw new Error(`${path} is incomplete: its manifest is missing. Export it again`);
  const { manifest, signature } = end;
  const isOwn = isSigned(end) && JSON.stringify(manifest.header) === JSON.stringify(header);
  if (!isOwn || JSON.stringify(parts.end()) !== JSON.stringify(manifest.parts) || signature === '') {
    throw new Error(`${path} was changed after it was written. Export it again`);
  }
  const rowsOf = new Map(manifest.parts.map(({ part, rows }) => [part, rows]));
  return { header, rowsOf, publicKey: manifest.publicKey };
}

function isSigned({ manifest, signature }: Manifest): boolean {
  try {
    return isSignedBy(manifest.publicKey, manifest, signature);
  } catch {
    // The manifest contains no valid key.
    return false;
  }
}

/** Reads the rows of a verified export, each with the length of its line. */
export async function* readRows(path: string): AsyncGenerator<PartLine & { length: number }> {
  for await (const line of linesOf(path)) {
    const value = parse(line);
    if (isPartLine(value)) yield { ...value, length: line.length };
  }
}

const isPartLine = (value: unknown): value is PartLine =>
  typeof value === 'object' && value !== null && 'part' in value && 'row' in value;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const NEWLINE = 0x0a;

/**
 * Reads the lines of a file. Node's readline is not used, because it also ends a line at U+2028.
 * @throws if the file cannot be read or is not compressed with zstd
 */
async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const plain = createZstdDecompress();
  file.on('error', (error) => plain.destroy(error));
  let begun: Buffer[] = [];
  try {
    for await (const chunk of file.pipe(plain) as AsyncIterable<Buffer>) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString();
        begun = [];
        start = end + 1;
      }
      if (start < chunk.length) begun.push(chunk.subarray(start));
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`There is no file ${path}`, { cause });
    throw new Error(`${path} cannot be read to its end: it is not an export, or is incomplete. Export it again`, {
      cause,
    });
  } finally {
    file.destroy();
    plain.destroy();
  }
}
