import type { CapturedEvent } from '../../contract/transcript.ts';
import { createRedactor, type Redactor, type RedactorOptions, type Subject } from '../../redact/redactor.ts';
import { createKnownValues, type KnownValuesOptions } from '../machine-secrets/known-values.ts';

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

/** One that knows the secrets of a machine. */
export function createMachineRedactor(options: RedactorOptions & KnownValuesOptions): Redactor {
  return createRedactor({ ...options, known: (add) => createKnownValues(options, add) });
}
