import { Problem, type ProblemCode } from '../../contract/problem.ts';
import type { Decision } from './decide.ts';

/** The client expects another number of events than the session has. */
export class SequenceMismatch extends Problem {
  /** How many events the session has. */
  readonly eventCount: number;

  constructor(eventCount: number) {
    super('sequence_mismatch', SENTENCES.sequence_mismatch);
    this.eventCount = eventCount;
  }
}

/** A legal hold keeps the session from being deleted. */
export class Held extends Problem {
  readonly holdId: string;

  constructor(holdId: string) {
    super(
      'held',
      `The hold ${holdId} keeps this session, so nothing was deleted. Ask an owner or admin to release the hold first.`,
    );
    this.holdId = holdId;
  }
}

type Refusal = Extract<Decision, { refused: unknown }>;
type Plain = Exclude<Refusal, { holdId: unknown }>;

const SENTENCES: Record<Plain['refused'], string> = {
  idempotency_key_reused:
    'This idempotency key was used with another body. Send the same bytes again, or use a new key for new events.',
  not_found: 'No such session in this organization and plane.',
  session_already_closed: 'The session is closed already; nothing was changed.',
  session_closed: 'The session is closed. Open a new one for further events.',
  session_deleted:
    'The session was deleted or has expired, and accepts no more events. Open it again with its client key to find out which.',
  sequence_mismatch: 'The session has other events than expected. Read those that you do not know, and send the rest.',
};

/** Also used for a session that is hidden from the caller: another sentence would reveal that it exists. */
export const noSuchSession = () => new Problem('not_found', SENTENCES.not_found);

/** @throws Problem for a refusal */
export function assertTaken(decision: Decision): asserts decision is Exclude<Decision, Refusal> {
  if (!('refused' in decision)) return;
  if ('holdId' in decision) throw new Held(decision.holdId);
  if ('eventCount' in decision) throw new SequenceMismatch(decision.eventCount);
  throw new Problem(decision.refused satisfies ProblemCode, SENTENCES[decision.refused]);
}
