import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createZstdDecompress } from 'node:zlib';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isSignedBy } from '../audit/heads.ts';
import type { MovedRow, MovedTable } from '../store/move.ts';

/*
 * An exported organization, or one person of it, is one file: lines of JSON, compressed with zstd. The first line says what it is, then comes a line
 * for each row, and the last line is the manifest. `zstd -dc FILE` shows it.
 */

export const KIND = 'session-capture export';
/** Of one person's data, which cannot be imported: what it refers to is the organization's. */
export const PERSON_KIND = 'session-capture export of a person';

export const Header = Type.Object({
  kind: Type.Union([Type.Literal(KIND), Type.Literal(PERSON_KIND)]),
  at: Type.String(),
  /** Of the service that wrote it. */
  version: Type.String(),
  /** The changes of its schema: the columns of the rows. */
  schema: Type.Array(Type.String()),
  organizationId: Type.String(),
  /** The person. */
  userId: Type.Optional(Type.String()),
});
export type Header = Static<typeof Header>;

/** A row of a table. Of `appends` it has the events in place of their compressed form. */
export interface PartLine {
  part: MovedTable;
  row: MovedRow;
}

const Part = Type.Object({ part: Type.String(), rows: Type.Integer(), sha256: Type.String() });
type Part = Static<typeof Part>;

export const Manifest = Type.Object({
  manifest: Type.Object({
    header: Header,
    /** SHA-256 of the lines of each table, line feeds included, in order. */
    parts: Type.Array(Part),
    publicKey: Type.String(),
  }),
  /** Over the canonical JSON of `manifest`, with the audit key. */
  signature: Type.String(),
});
export type Manifest = Static<typeof Manifest>;

/** Rows and SHA-256 of each part, as its lines go by. */
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

/** What is read of an export that is whole. */
export interface ExportFile {
  header: Header;
  rowsOf: Map<string, number>;
}

/**
 * Reads an export to its end, and compares it with its manifest.
 * @throws if it is none of an organization, is not whole, or was changed
 */
export async function verifyFile(path: string): Promise<ExportFile> {
  const parts = new Parts();
  let header: unknown;
  let end: unknown;
  for await (const line of linesOf(path)) {
    const value = parse(line);
    if (header === undefined) header = value;
    else if (end !== undefined) throw new Error(`${path} has lines behind its manifest`);
    else if (isPartLine(value)) parts.add(value.part, line);
    else end = value;
  }
  if (!Value.Check(Header, header)) throw new Error(`${path} is no exported organization that this version knows`);
  if (header.kind !== KIND) throw new Error(`${path} holds one person's data, which is to be read and not imported`);
  if (!Value.Check(Manifest, end)) throw new Error(`${path} is not whole: its manifest is missing. Export it again`);
  const { manifest, signature } = end;
  const isOwn = isSigned(end) && JSON.stringify(manifest.header) === JSON.stringify(header);
  if (!isOwn || JSON.stringify(parts.end()) !== JSON.stringify(manifest.parts) || signature === '') {
    throw new Error(`${path} was changed after it was written. Export it again`);
  }
  return { header, rowsOf: new Map(manifest.parts.map(({ part, rows }) => [part, rows])) };
}

function isSigned({ manifest, signature }: Manifest): boolean {
  try {
    return isSignedBy(manifest.publicKey, manifest, signature);
  } catch {
    // The key is none.
    return false;
  }
}

/** The rows of an export, whose manifest fits, each with the length of its line. */
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

/** Not Node's readline, which ends a line at U+2028 as well. @throws if it cannot be read, or is not compressed so */
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
    throw new Error(`${path} cannot be read to its end: it is no export, or not whole. Export it again`, { cause });
  } finally {
    file.destroy();
    plain.destroy();
  }
}
