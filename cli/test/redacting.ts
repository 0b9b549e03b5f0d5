import type { CapturedEvent } from '../../contract/transcript.ts';
import type { Redactor, Subject } from '../redact/redactor.ts';

/** Masks a record of one event. */
export function redactOne(
  redactor: Pick<Redactor, 'redact'>,
  event: CapturedEvent,
  subject: Subject = { session: 'codex s-1' },
): CapturedEvent {
  const [masked] = redactor.redact([event], subject);
  if (masked === undefined) throw new Error('an event was lost');
  return masked;
}
