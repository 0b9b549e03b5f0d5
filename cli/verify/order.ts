import type { CapturedRecord } from '../read/record.ts';
import type { ExpectedEvent } from './expect.ts';
import type { Held } from './held.ts';
import { positionOf, type Transcript } from './records.ts';
import type { Verified, Verifier } from './session.ts';

interface Step {
  row: Held;
  eventType: string;
  position: number;
}

/**
 * Tells the events of a file that do not come in the order of the file. Between files there is no order to be told: they
 * are captured as they grow. Nor is there in a file that was written anew.
 */
export function createOrder(
  { findings }: Verifier,
  { session, serviceIds, files }: Verified,
  number: number,
  { isRewritten }: Transcript,
) {
  let before: Step | undefined;
  let last: Step | undefined;

  function tell({ row, eventType, position }: Step): void {
    const serviceSession = serviceIds[row.place];
    findings.add({
      problem: 'disordered',
      agent: session.agent,
      session: session.agentSession,
      ...(serviceSession !== undefined && { serviceSession }),
      sequence: row.sequence,
      file: files[number]?.path ?? '',
      position,
      eventType,
    });
  }

  function check(step: Step): void {
    const { id } = step.row;
    if (last === undefined || id > last.row.id) {
      before = last;
      last = step;
    } else if (before === undefined || id > before.row.id) {
      // It is the last one that came too late: this one follows the one before it.
      tell(last);
      last = step;
    } else tell(step);
  }

  return {
    /** The next record of the file, with what is held of each of its events. */
    check(record: CapturedRecord, events: readonly ExpectedEvent[], held: readonly (Held[] | undefined)[]): void {
      if (isRewritten) return;
      const position = positionOf(record);
      for (const [index, { eventType }] of events.entries()) {
        for (const row of held[index] ?? []) if (row.place >= 0) check({ row, eventType, position });
      }
    },
  };
}
