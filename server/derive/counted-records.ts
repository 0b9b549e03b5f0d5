import type { Entry } from '../../transcript/entry/entry.ts';
import { readOwnLanes } from '../../transcript/entry/lanes.ts';
import { compareWriting, type Writing } from '../../transcript/revision.ts';

/**
 * Decides which new entries count, without reading the entries before them. All entries must be read again only if new ones
 * change what earlier ones count for: an agent writes a record again, or a sub-agent whose messages were repeated gets its own
 * transcript.
 */
export class CountedRecords {
  /** The last event of each record; undefined if the record was written again. */
  readonly #records = new Map<string, Pick<Writing, 'revision' | 'index'> | undefined>();
  /** Sub-agents with their own transcripts, and those whose repeated messages count. */
  readonly #own = new Set<string>();
  readonly #repeated = new Set<string>();
  #weight = 0;

  /** @param all the entries of a session from its first one on */
  static of(all: readonly Entry[], counted: readonly Entry[]): CountedRecords {
    const made = new CountedRecords();
    for (const entry of all) made.#isFirstWriting(entry);
    made.#noteLanes(counted);
    return made;
  }

  /** The number of characters that this keeps. */
  get weight(): number {
    return this.#weight;
  }

  /**
   * Adds the entries that follow.
   * @returns the entries that count; undefined if they change what earlier ones count for. After undefined, this object must
   * not be used again
   */
  add(entries: readonly Entry[]): Entry[] | undefined {
    if (!entries.every((entry) => this.#isFirstWriting(entry))) return undefined;
    return this.#noteLanes(entries);
  }

  /** Whether the entry belongs to the only writing of its record. */
  #isFirstWriting({ writing }: Entry): boolean {
    if (!writing) return true;
    const { key, revision, index } = writing;
    const known = this.#records.get(key);
    if (!this.#records.has(key)) this.#weight += key.length;
    const isFirst = !this.#records.has(key) || (known && compareWriting(writing, known) === 'continues') === true;
    this.#records.set(key, isFirst ? { revision, index } : undefined);
    return isFirst;
  }

  #noteLanes(entries: readonly Entry[]): Entry[] | undefined {
    for (const lane of readOwnLanes(entries)) {
      if (this.#repeated.has(lane)) return undefined;
      this.#own.add(lane);
    }
    const counted = entries.filter(({ lane, echo }) => !echo || lane === undefined || !this.#own.has(lane));
    for (const { lane, echo } of counted) if (echo && lane !== undefined) this.#repeated.add(lane);
    return counted;
  }
}
