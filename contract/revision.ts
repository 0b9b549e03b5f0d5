/**
 * Which of the events of a record count, where its agent wrote it several times. The rule is that of `Source.revision`;
 * both readers, the service's summary and the dashboard's timeline, follow it event by event.
 */

/** One of several writings of a record, as told by the `source` of an event of it. */
export interface Writing {
  /** Tells the record from the session's others, sub-agents included. */
  key: string;
  revision: number;
  /** Which event of the writing. */
  index: number;
}

/** Undefined for events of records that are written once. Payloads come from anybody: nothing is taken for granted. */
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
 * What an event is to what came before it of its record: the start of a writing that takes its place, one more event of
 * the writing that counts, or history already. A writing's events come in the order of their indexes.
 */
export function compareWriting(next: Step, counted: Step | undefined): 'replaces' | 'continues' | 'history' {
  if (counted === undefined || next.revision > counted.revision) return 'replaces';
  if (next.revision < counted.revision) return 'history';
  return next.index > counted.index ? 'continues' : 'replaces';
}
