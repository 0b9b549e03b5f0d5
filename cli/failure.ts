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

/** What ends a command: a sentence for a person, what to do about it, and the exit code. */
export class Failure extends Error {
  readonly exitCode: ExitCode;
  readonly hint: string | undefined;

  constructor(exitCode: ExitCode, sentence: string, hint?: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Failure';
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The text of whatever was thrown, with the cause that `fetch` hides its reasons in. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  const reason = cause instanceof Error && !(error instanceof Failure) ? cause.message || codeOf(cause) : undefined;
  return reason ? `${error.message}: ${reason}` : error.message;
}

/** The system's word for an error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : undefined;
}
