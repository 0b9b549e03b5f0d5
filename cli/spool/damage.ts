import { EXIT, Failure } from '../failure.ts';

/** The state of the spool's file or its disk, according to an error. */
export type Damage =
  /** The content is not what was written, so the file must be made anew. */
  | 'damaged'
  /** It is unknown what reached the disk. Only opening the file again tells. */
  | 'unsure'
  /** The disk is full, and the failed write was rolled back. */
  | 'full';

/** Primary result codes of SQLite: CORRUPT and NOTADB; IOERR and CANTOPEN; FULL. */
const CODES: Record<number, Damage> = { 11: 'damaged', 26: 'damaged', 10: 'unsure', 14: 'unsure', 13: 'full' };

/** Undefined if the error reports none of these. */
export function damageOf(error: unknown): Damage | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (error instanceof SpoolDamaged) return 'damaged';
  // The low byte. The other bytes give the cause in more detail.
  return typeof errcode === 'number' ? CODES[errcode & 0xff] : undefined;
}

/** Thrown while the spool is opened or read. The capturing process then makes it anew; see `openOrReplace`. */
export class SpoolDamaged extends Failure {
  constructor(path: string, reason: string) {
    super(
      EXIT.failure,
      `${path} is damaged: ${reason}.`,
      '`capture run` and `capture import` rebuild it from the transcripts. Nothing is sent twice.',
    );
  }
}
