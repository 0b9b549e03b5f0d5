/** Exit codes, as the help documents them. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  signInRequired: 4,
  /** Nothing is lost, and the same command may succeed later: sysexits' EX_TEMPFAIL. */
  temporary: 75,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends a command: a sentence for a person, a hint how to fix it, and the exit code. */
export class Failure extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(exitCode: number, sentence: string, hint?: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Failure';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The service refuses the organization secret. */
export class SecretRefused extends Failure {
  constructor(sentence: string, hint: string, cause: unknown) {
    super(EXIT.signInRequired, sentence, hint, cause);
  }
}

/** The system's network errors in words for people. */
const REASONS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  ECONNRESET: 'the connection was broken',
  ETIMEDOUT: 'there was no answer in time',
  EPROTO: 'it does not speak HTTPS; try http://',
};

/** A person answered no. The exit code is 2, as in `gh`: nothing failed, but nothing was done. */
export class Declined extends Failure {
  constructor(sentence: string) {
    super(EXIT.usage, sentence);
  }
}

/** The text of any thrown value, with the cause that `fetch` hides inside. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error) || error instanceof Failure) return error.message;
  const code = codeOf(cause);
  const known = code === undefined ? undefined : REASONS[code];
  if (known !== undefined) return known;
  const reason = cause.message || code;
  return reason ? `${error.message}: ${reason}` : error.message;
}

/** Turns any thrown value into the failure that ends a command. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (['EROFS', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) {
    const hint = 'Make it writable for you, or set CAPTURE_HOME to a folder that is.';
    return new Failure(EXIT.failure, `A file cannot be written or read: ${describe(error)}`, hint, error);
  }
  if (!isDiskFull(error)) return new Failure(EXIT.failure, describe(error));
  return new Failure(
    EXIT.temporary,
    'The disk is full.',
    'Free some space and try again. `capture status` says on which disk. Nothing is lost: the transcripts are read again.',
    error,
  );
}

/** 13: SQLITE_FULL */
const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === 'ENOSPC' || (error instanceof Error && (error as { errcode?: unknown }).errcode === 13);

/** The system's code for an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
