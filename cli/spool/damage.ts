import { EXIT, Failure } from '../failure.ts';

/** What an error says of the spool's file, or of the disk it lies on. */
export type Damage =
  /** Its content is not what was written: it must be made anew. */
  | 'damaged'
  /** It is not known what reached the disk: only opening it again tells. */
  | 'unsure'
  /** There is no room left; what was tried is undone. */
  | 'full';

/** Primary result codes of SQLite: CORRUPT and NOTADB; IOERR and CANTOPEN; FULL. */
const CODES: Record<number, Damage> = { 11: 'damaged', 26: 'damaged', 10: 'unsure', 14: 'unsure', 13: 'full' };

/** Undefined where it says nothing of the kind. */
export function damageOf(error: unknown): Damage | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'full';
  if (error instanceof SpoolDamaged) return 'damaged';
  // The low byte; the others tell the cause more closely.
  return typeof errcode === 'number' ? CODES[errcode & 0xff] : undefined;
}

/** Found when it was opened or read. Whoever captures makes it anew, see `openOrReplace`. */
export class SpoolDamaged extends Failure {
  constructor(path: string, reason: string) {
    super(
      EXIT.failure,
      `${path} is damaged: ${reason}.`,
      '`capture run` and `capture import` begin it anew from the transcripts; what the service has is not sent twice.',
    );
  }
}
