import type { Writing } from '../revision.ts';
import type { AddOn } from './add-on.ts';
import type { FileStat } from './changes.ts';
import type { Outcome, Purpose } from './command.ts';
import type { Terms, Usage } from './usage.ts';

interface Chain {
  record: string;
  parent?: string;
  /** Set for a sub-agent, on the first event of each record. */
  isSide?: true;
}

export interface Echo {
  /** The call that started the sub-agent. */
  starter?: string;
  /** Tokens of the response that this entry is part of. */
  usage?: Usage;
}

/** What an event tells about responses whose tokens another event reports; see `told.ts`. */
export interface Told extends Terms {
  /** The record whose response it describes. Absent: it describes all later responses, until something else is told. */
  record?: string;
  cacheWrite1h?: number;
  webSearches?: number;
  /** Further responses, whose tokens the usage of this one does not include. */
  others?: readonly Usage[];
}

/** The fields of every entry. */
interface Common {
  sequence: number;
  /** The number of its events: more than one if a large payload was sent in parts. */
  span: number;
  eventType: string;
  /** Epoch milliseconds of the event, or of its storage if the agent recorded no time. */
  time: number;
  /** Whether the agent recorded the time. Only then is idle time known. */
  timed: boolean;
  /** The sub-agent to which it belongs. */
  lane?: string;
  /** Its place in a chain of records, which may be the only sign of its sub-agent; see `lanes.ts`. */
  chain?: Chain;
  /** Set for a sub-agent's event in the file of its parent session; see `progress.ts`. */
  echo?: Echo;
  told?: Told;
  redactions?: number;
  /** Set for a record that its agent may write again. */
  writing?: Writing;
  /** Its place among the entries, if it differs from the sequence; see `revisions.ts`. */
  order?: number;
  /** Earlier revisions of the entry. */
  earlier?: readonly Entry[];
}

/** The text of a message. A very long text is clipped, and read again if a reader needs all of it. */
interface WithText {
  text: string;
  /** Characters of the whole text. */
  length: number;
}

export type PromptEntry = Common &
  WithText & {
    kind: 'prompt';
    images: number;
    /** The skill that a slash command loads. */
    addOn?: AddOn;
  };
export type AnswerEntry = Common &
  WithText & {
    kind: 'answer' | 'reasoning';
    model?: string;
    messageId?: string;
    /** The path of the sub-agent that sent the answer to its parent, in whose file it is. */
    sender?: string;
  };
export type CallEntry = Common & {
  kind: 'call';
  callId?: string;
  name: string;
  /** One line that says what the call is about. */
  about: string;
  /** The command that it runs, in one line, and its purpose. */
  command?: string;
  /** The name of the running command whose further output this call gets. */
  continues?: string;
  purposes?: readonly Purpose[];
  addOn?: AddOn;
  /** The beginning of a new sub-agent's prompt. It identifies the sub-agent. */
  brief?: string;
  /** The subjects of its commits, as far as it contains them. */
  subjects?: readonly string[];
  changes: readonly FileStat[];
};
export type ResultEntry = Common &
  Outcome & {
    kind: 'result';
    callId?: string;
    name?: string;
    failed: boolean;
    exitCode?: number;
    /** The command still runs, under this name. */
    running?: string;
    durationMs?: number;
    /** The beginning of the output. The stored entry of a call that did not fail has none. */
    preview: string;
    changes: readonly FileStat[];
  };
export type UsageEntry = Common & {
  kind: 'usage';
  usage: Usage;
  /** The record, if an earlier event of it may tell more about the response. */
  record?: string;
};
export type CompactionEntry = Common &
  WithText & {
    kind: 'compaction';
    trigger?: string;
    tokensBefore?: number;
    /** The event that contains the summary, if it follows the compaction itself. */
    summary?: Pick<Common, 'sequence' | 'span'>;
  };
export type SubagentEntry = Common & {
  kind: 'subagent';
  phase: 'started' | 'finished';
  subagent: string;
  callId?: string;
  agentType?: string;
  description?: string;
};
export type TurnEntry = Common & { kind: 'turn'; reason?: string; durationMs?: number; interrupted: boolean };
/** A message of the agent's program; `error` if something failed. */
export type NoticeEntry = Common & WithText & { kind: 'notice' | 'error'; about?: string };
export type MetaEntry = Common & { kind: 'meta'; facts: Readonly<Record<string, string>> };
/** Entries that a reader rarely needs: context put before the model, records of unknown kinds, foreign events. */
export type QuietEntry = Common & {
  kind: 'quiet';
  about: string;
  preview: string;
  isDuplicate: boolean;
  /** Add-ons that the agent offers to the model. */
  listed?: readonly AddOn[];
  /** Set for a sub-agent's prompt: the same text as the `brief` of the call that started it. */
  brief?: string;
  /** The length of its summary in characters. The summary belongs to the compaction before it. */
  summaryLength?: number;
};
/** A slice of a large payload without the other slices. */
export type PartEntry = Common & { kind: 'part'; part: number; of: number; json: string; identity: string };

export type Entry =
  | PromptEntry
  | AnswerEntry
  | CallEntry
  | ResultEntry
  | UsageEntry
  | CompactionEntry
  | SubagentEntry
  | TurnEntry
  | NoticeEntry
  | MetaEntry
  | QuietEntry
  | PartEntry;

/** Entries by sequence, the first at index 0. Entries that are not loaded are holes. */
export type Entries = readonly (Entry | undefined)[];

/** Each loaded entry once, without the holes and the further events that an entry spans. */
export function* eachOf(entries: Entries): Generator<Entry> {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (!entry) continue;
    yield entry;
    index += entry.span - 1;
  }
}
