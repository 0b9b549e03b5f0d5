import type { Writing } from '../revision.ts';
import type { AddOn } from './add-on.ts';
import type { FileStat } from './changes.ts';
import type { Outcome, Purpose } from './command.ts';
import type { Usage } from './usage.ts';

interface Chain {
  record: string;
  parent?: string;
  /** Set for a sub-agent, on the first event of each record. */
  isSide?: true;
}

export interface Echo {
  /** The call that started the sub-agent. */
  starter?: string;
  /** Tokens of the response that it is part of. */
  usage?: Usage;
}

/** What every entry has. */
interface Common {
  sequence: number;
  /** Number of its events: more than one if a large payload came in parts. */
  span: number;
  eventType: string;
  /** Epoch milliseconds of the event, or of its storage if the agent recorded no time. */
  time: number;
  /** Whether the agent recorded the time. Only then is idle time known. */
  timed: boolean;
  /** The sub-agent it belongs to. */
  lane?: string;
  /** Its place in a chain of records, which may be the only sign of its sub-agent; see `lanes.ts`. */
  chain?: Chain;
  /** A sub-agent's event that came in the file of the session which started it; see `progress.ts`. */
  echo?: Echo;
  redactions?: number;
  /** Of a record that its agent may write again. */
  writing?: Writing;
  /** Its place among the entries, if it differs from the sequence; see `revisions.ts`. */
  order?: number;
  /** Earlier revisions of the entry. */
  earlier?: readonly Entry[];
}

/** Text of a message. A very long one is clipped, and read again when a reader needs all of it. */
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
export type AnswerEntry = Common & WithText & { kind: 'answer' | 'reasoning'; model?: string; messageId?: string };
export type CallEntry = Common & {
  kind: 'call';
  callId?: string;
  name: string;
  /** One line that says what the call is about. */
  about: string;
  /** The command it runs, in one line, and what that is for. */
  command?: string;
  purposes?: readonly Purpose[];
  addOn?: AddOn;
  /** The beginning of a new sub-agent's prompt. It identifies the sub-agent. */
  brief?: string;
  /** Of the commits it makes, as far as it names them. */
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
    durationMs?: number;
    /** The beginning of the output. */
    preview: string;
    changes: readonly FileStat[];
  };
export type UsageEntry = Common & { kind: 'usage'; usage: Usage };
export type CompactionEntry = Common &
  WithText & {
    kind: 'compaction';
    trigger?: string;
    tokensBefore?: number;
    /** The event that holds the summary, where it came after the compaction itself. */
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
/** Something said by the agent's program; `error` where something went wrong. */
export type NoticeEntry = Common & WithText & { kind: 'notice' | 'error'; about?: string };
export type MetaEntry = Common & { kind: 'meta'; facts: Readonly<Record<string, string>> };
/** Entries that a reader rarely needs: context put before the model, records of unknown kinds, foreign events. */
export type QuietEntry = Common & {
  kind: 'quiet';
  about: string;
  preview: string;
  isDuplicate: boolean;
  /** Add-ons that it offers to the model. */
  listed?: readonly AddOn[];
  /** Of a sub-agent's prompt: what the call that started it has as its `brief`. */
  brief?: string;
  /** Characters of the summary that it holds, which belongs to the compaction before it. */
  summaryLength?: number;
};
/** A slice of a large payload whose other slices are not here. */
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

/** Entries by sequence, the first at index 0; those that are not loaded are holes. */
export type Entries = readonly (Entry | undefined)[];

/** Each entry that is there, without what an entry of several events spans. */
export function* eachOf(entries: Entries): Generator<Entry> {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index];
    if (!entry) continue;
    yield entry;
    index += entry.span - 1;
  }
}
