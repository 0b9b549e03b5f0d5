/** Every error that the service answers, with its status. Programs use the code; people read the sentence. */
export const PROBLEMS = {
  validation_failed: 400,
  malformed_json: 400,
  environment_unusable: 400,
  installation_unusable: 400,
  idempotency_key_reused: 400,
  quota_reached: 400,
  invalid_filter: 400,
  invalid_path: 400,
  // The errors of RFC 8628, with its names.
  authorization_pending: 400,
  slow_down: 400,
  access_denied: 400,
  expired_token: 400,
  secret_missing: 401,
  secret_invalid: 401,
  secret_revoked: 401,
  token_missing: 401,
  token_invalid: 401,
  token_expired: 401,
  secret_not_accepted: 401,
  no_organization: 403,
  insufficient_role: 403,
  email_unverified: 403,
  environment_revoked: 403,
  other_machine: 403,
  content_withheld: 403,
  sharing_refused: 403,
  not_found: 404,
  session_deleted: 404,
  method_not_allowed: 405,
  session_closed: 409,
  session_already_closed: 409,
  sequence_mismatch: 409,
  idempotency_in_progress: 409,
  organization_exists: 409,
  member_exists: 409,
  last_owner: 409,
  already_decided: 409,
  held: 409,
  share_ended: 410,
  rate_limited: 429,
  internal: 500,
  events_damaged: 500,
  idp_assignment_failed: 502,
  idp_invite_failed: 502,
  service_unavailable: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** Body of every error response. */
export interface ProblemBody {
  /** A sentence for a person that says what to do. */
  error: string;
  /** A stable word for programs. */
  code: ProblemCode;
}

/** Further data of an error besides its public sentence. Only `retryAfter` reaches the caller. */
export interface ProblemOptions {
  /** Seconds, sent as `Retry-After`. */
  retryAfter?: number;
  /** The private reason, for the log only. */
  cause?: unknown;
}

/** An error with a public half (code, sentence) and a private one (cause). */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly retryAfter: number | undefined;

  constructor(code: ProblemCode, sentence: string, options: ProblemOptions = {}) {
    super(sentence, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = PROBLEMS[code];
    this.retryAfter = options.retryAfter;
  }

  toBody(): ProblemBody {
    return { error: this.message, code: this.code };
  }
}
