import type { AgentId } from '../../contract/agent.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { JsonObject, Store, StoreByPath } from './store.ts';

export type { JsonObject } from './store.ts';

/** The process environment, as an input. */
export type Variables = { readonly [name: string]: string | undefined };

/** A transcript file of an agent: a file with one JSON value per line, or a file that the agent's `store` reads. */
export interface TranscriptFile {
  /** Absolute folder the agent keeps its sessions in. */
  root: string;
  /** The path below the root, with `/` on every system. A session in a file of many has `#` and its name appended. */
  path: string;
}

/** The facts about a transcript file from its path and its first record. Stored beside the file's cursor. */
export interface Origin {
  /** The agent's own id of the session that the file's records belong to. A sub-agent's file has its parent's id. */
  session: string;
  /** The sub-agent that wrote this file. */
  subagent?: string;
  agentVersion?: string;
  cwd?: string;
  branch?: string;
  /** The session that this one was forked from, if the agent names it. */
  forkedFrom?: string;
  /** The file may begin with copies from another thread: records without a number, up to this time. */
  copiedUntil?: string;
  /** Whether the agent's hooks have reported the tool calls and their results. */
  hooked?: boolean;
}

/** The place of a record. */
export interface RecordPlace {
  origin: Origin;
  /** Path below the agent's root. */
  file: string;
  /** Byte offset of the record in its file. In a document, its number from 0. In a database, the number that `store` gives. */
  position: number;
}

/**
 * The pipeline's view of an agent. Pure: no disk, no clock, no network. A new agent is a folder like `pi/` and a line in
 * `all.ts`.
 */
export interface Agent {
  id: AgentId;
  displayName: string;
  /** The agent whose format it extends. That one wrote a file in which nothing shows the extension. */
  extends?: AgentId;
  /** The names that its program may have in PATH. */
  programs?: readonly string[];
  /** The variables that move its folders. */
  variables?: readonly string[];
  /** The folder of its settings, which exists once the agent has run. */
  folder?(variables: Variables, home: string): string;
  /** Absolute paths of its credentials, as JSON or one pair per line. Most will not exist. */
  credentials?(variables: Variables, home: string): string[];
  /** The setting for how long it keeps its transcripts, if it deletes them. */
  settings?: AgentSettings;
  /** The entry in its settings that makes it report facts that no transcript has. The entry's command line needs no shell. */
  hooks?: AgentHooks;
  /** Absolute folders with transcripts. Most will not exist. */
  roots(variables: Variables, home: string): string[];
  /** Whether a file below a root is a transcript. */
  isTranscript(path: string): boolean;
  /** Whether a file in a folder that a person names may be one that the agent has exported. Its content decides. */
  isExport?(path: string): boolean;
  /** Whether a folder below a root may contain transcripts. If the agent does not say, every folder may. */
  entersFolder?(path: string): boolean;
  /** How to read the records of transcripts that are not JSON lines. If it keeps several kinds, the path decides. */
  store?: Store | StoreByPath;
  /**
   * The types of records of which readers make no event, always or sometimes, because they tell people nothing. Another type
   * without an event is new. `all`: people choose the types.
   */
  plainRecords?: readonly string[] | 'all';
  /** The name under which the agent's hooks may have reported a transcript's content; see `cli/read/inbox.ts`. */
  hookedAs?(path: string): string | undefined;
  /** Its session ids are times, counters or names, so two machines may use the same one. */
  hasLocalIds?: true;
  /** Whether a file's name or this record names the session, for agents whose first record may not. */
  namesSession?(record: JsonObject, path: string): boolean;
  /** Whether the agent says with a record that the session is over. It may still be resumed. */
  endsSession?(record: JsonObject): boolean;
  /**
   * Whether a record repeats earlier ones of its session or of the forked session. It is left out if those stay on the machine.
   * Compactions and titles need not be reported.
   */
  restates?(record: JsonObject, place: RecordPlace): boolean;
  /** Whether this may be a later writing of a record that keeps the time of the first. */
  bearsEarlierTime?(record: JsonObject): boolean;
  /**
   * Identifies a file. `first` is its first JSON record, or the first one near its start that `namesSession`. Absent if the
   * file has no such record yet.
   */
  identify(file: TranscriptFile, first: JsonObject | undefined): Origin;
  /** The session that a record names. A copy in another session may name the session that it was copied from. */
  sessionOf?(record: JsonObject): string | undefined;
  /** The folder that the agent works in, according to a record, if the agent does not call it `cwd`. */
  folderOf?(record: JsonObject): string | undefined;
  /**
   * A key that two records share exactly when the agent wrote the same record twice: into a fork, into a resumed file, or by
   * rewriting. Undefined if the record has no identity of its own.
   */
  recordKey(record: JsonObject, place: RecordPlace): string | undefined;
  /** What the events of a record do not tell about it, for making it of them again; see `cli/recover/record.ts`. */
  restored?: RestoredForm;
  /** A prompt in a line of `history.jsonl` in its folder, where it keeps prompts longer than transcripts. */
  readPrompt?(line: JsonObject): PromptLine | undefined;
  /** How a person continues a copy of a session. Absent if its program cannot, or reads sessions from a store of its own. */
  continuation?: AgentContinuation;
  /** The events of one record. Never throws, and puts every leaf of the record into exactly one of them. */
  parse(record: JsonObject, place: RecordPlace): CapturedEvent[];
}

/** A prompt of any session. */
export interface PromptLine {
  session: string;
  /** In milliseconds since 1970. */
  time: number;
  text: string;
  folder?: string;
}

export interface RestoredForm {
  /** A record itself says which sub-agent it is of, and not its file. */
  namesSubagent?: true;
  /** Adds fields that repeat facts about the file, such as its session's id. `version` is that of the events. */
  stamp?(record: JsonObject, place: RecordPlace, version: string | undefined): JsonObject;
  /**
   * The places that the agent writes to, where its parser accepts several; the first that fits counts. `*` is any element of a
   * list, also one from which the parser takes everything.
   */
  places?(record: JsonObject, events: readonly CapturedEvent[]): readonly string[];
}

export interface AgentContinuation {
  /** Where the transcript of a session in a folder belongs, below the agent's first root. */
  path(session: string, folder: string, now: Date): string;
  /** The words of the command line that continues a session. */
  command(session: string): readonly string[];
  /** Says in a record from which session it was copied, as the agent's own forks do. */
  mark(record: JsonObject, original: string): JsonObject;
}

export interface AgentSettings {
  /** The person's own settings, a JSON document. */
  path(variables: Variables, home: string): string;
  findRetention(settings: JsonObject): Retention | undefined;
}

/** After how many days an agent deletes a transcript, and the name of that setting. */
export interface Retention {
  setting: string;
  days: number;
}

/** Our entries among others in one of the agent's JSON documents. */
export interface AgentHooks {
  path(variables: Variables, home: string): string;
  /** Members that the document's root must have. They are added if absent. */
  root?: JsonObject;
  /** Names of the lists in the root's `hooks`. An entry is added at the end of each. */
  events: readonly string[];
  /** The entry that runs a command line. */
  entry(command: string): JsonObject;
}
