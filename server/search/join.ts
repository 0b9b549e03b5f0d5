import { joinParts, type Part } from '../../contract/parts.ts';

/** An event as it is stored, without its payload. */
export interface RawEvent {
  sequence: number;
  eventType: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** An event with its whole payload, which is parsed when it is asked for. */
export interface WholeEvent extends RawEvent {
  /** The terms that may stand in it; absent: any. */
  places?: readonly number[];
  payload(): unknown;
}

/** As many as those who derive join. */
const MOST_JOINED = 64;

/**
 * Joins payloads that came in parts, and stand where the first one does. Parts that do not follow each other are events
 * of their own.
 */
export function createJoiner() {
  let run: { event: RawEvent; part: Part }[] = [];

  /** The parts of a run that goes on no further. */
  function end(): WholeEvent[] {
    const parts = run;
    run = [];
    return parts.map(({ event, part }) => ({ ...event, payload: () => part }));
  }

  return {
    end,
    /** @returns what is whole by now */
    add(event: RawEvent, part: Part): WholeEvent[] {
      const before = part.part === run.length + 1 ? [] : end();
      run.push({ event, part });
      if (part.part !== run.length || part.of > MOST_JOINED) return [...before, ...end()];
      if (part.of !== run.length) return before;
      const parts = run.map(({ part }) => part);
      const [{ event: first }] = run as [(typeof run)[number]];
      run = [];
      return [...before, { ...first, payload: () => join(parts) }];
    },
  };
}

/** What the parts make; where that is no JSON, what they are. */
function join(parts: readonly Part[]): unknown {
  try {
    return joinParts(parts);
  } catch {
    return { text: parts.map(({ json }) => json).join('') };
  }
}
