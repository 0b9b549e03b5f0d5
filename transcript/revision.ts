/**
 * Decides which events count if an agent wrote a record several times, by the rule of `Source.revision`. The service's summary
 * and the dashboard's timeline apply it event by event.
 */

/** One of several revisions of a record, from the `source` of its events. */
export interface Writing {
  /** Distinguishes the record from the session's other records, including those of sub-agents. */
  key: string;
  revision: number;
  /** Index of the event in the revision. */
  index: number;
}

/** Undefined for events of records that are written once. Any client may send payloads, so everything is checked. */
export function writingOf(source: unknown): Writing | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const { record, revision, subagent, index } = source as Partial<Record<string, unknown>>;
  if (typeof record !== 'string' || !Number.isSafeInteger(revision)) return undefined;
  return {
    key: `${typeof subagent === 'string' ? subagent : ''} ${record}`,
    revision: revision as number,
    index: Number.isSafeInteger(index) ? (index as number) : 0,
  };
}

type Step = Pick<Writing, 'revision' | 'index'>;

/**
 * Compares an event with the current revision of its record. The event starts a newer revision, continues the current one, or
 * belongs to the history. The events of a revision arrive in the order of their indexes.
 */
export function compareWriting(next: Step, counted: Step | undefined): 'replaces' | 'continues' | 'history' {
  if (counted === undefined || next.revision > counted.revision) return 'replaces';
  if (next.revision < counted.revision) return 'history';
  return next.index > counted.index ? 'continues' : 'replaces';
}
