import { createRedactor, type Redactor, type RedactorOptions, type Subject } from '../../redact/redactor.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import { createKnownValues, type KnownValuesOptions } from '../machine-secrets/known-values.ts';

/** Masks a record with a single event. */
export function redactOne(
  redactor: Pick<Redactor, 'redact'>,
  event: CapturedEvent,
  subject: Subject = { session: 'codex s-1' },
): CapturedEvent {
  const [masked] = redactor.redact([event], subject);
  if (masked === undefined) throw new Error('an event was lost');
  return masked;
}

/** A redactor that knows the machine's secrets. */
export function createMachineRedactor(options: RedactorOptions & KnownValuesOptions): Redactor {
  return createRedactor({ ...options, known: (add) => createKnownValues(options, add) });
}
