import type { Slices } from '../../background.ts';
import { nameSession } from '../../log/damaged.ts';
import type { Db, SessionRow } from '../../store/schema.ts';
import type { Masker } from './mask-thread.ts';
import { readSome, Turn } from './writing.ts';

/** How much would be masked in a session. */
export interface SessionFindings {
  events: number;
  places: number;
  /** Places in the descriptive fields of the session. */
  fields: number;
  /** How many places each rule found. */
  rules: Readonly<Record<string, number>>;
  /** The figures that contain the text and are left as they are. */
  left: string[];
  /** False: the text may also be in parts of a payload that are too many and too short to be searched together. */
  isComplete: boolean;
}

/** Counts what the masker would mask in a session, in the order of a mask, and changes nothing. It drops the masker at the end. */
export async function* countInSlices(db: Db, session: SessionRow, masker: Masker): Slices<SessionFindings> {
  try {
    let [events, places] = [0, 0];
    const add = ({ masked }: Awaited<ReturnType<Masker['end']>>) => {
      for (const { count } of masked.flatMap((append) => append.events)) {
        events++;
        places += count;
      }
    };
    const turn = new Turn();
    for await (const appends of readSome(db, session, 1, session.event_count)) {
      add(await masker.add(appends));
      if (turn.isOver()) yield 0;
    }
    const last = await masker.end();
    add(last);
    const { places: fields, rules } = await masker.maskFields(session);
    return { events, places, fields, rules, left: last.left, isComplete: last.isComplete };
  } catch (error) {
    throw nameSession({ organizationId: session.organization_id, sessionId: session.session_id }, error);
  } finally {
    await masker.drop();
  }
}

/** Does the slices one after the other, without pauses. */
export async function inOneGo<Result>(slices: Slices<Result>): Promise<Result> {
  for (;;) {
    const step = await slices.next();
    if (step.done) return step.value;
  }
}
