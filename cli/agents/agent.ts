import type { AgentId } from '../../contract/agent.ts';
import type { CapturedEvent } from '../../contract/transcript.ts';
import type { JsonObject, Store, StoreByPath } from './store.ts';

export type { JsonObject } from './store.ts';

/** The process environment, as an input. */
export type Variables = { readonly [name: string]: string | undefined };

/** A transcript file of an agent: a file of JSON values, one a line, or whatever the agent's `store` reads. */
export interface TranscriptFile {
  /** Absolute folder the agent keeps its sessions in. */
  root: string;
  /** Path below the root, with `/` on every system; of a session in a file of many, with `#` and its name behind. */
  path: string;
}

/** What a transcript file is, told by its path and its first record. Kept beside the file's cursor. */
export interface Origin {
  /** The agent's own id of the session that the file's records belong to: for a sub-agent's file the parent's. */
  session: string;
  /** The sub-agent whose file this is. */
  subagent?: string;
  agentVersion?: string;
  cwd?: string;
  branch?: string;
  /** The session this one was forked from, where the agent says so. */
  forkedFrom?: string;
  /** The agent's hooks have told which tools were called, and what they answered. */
  hooked?: boolean;
}

/** Where a record stands. */
export interface RecordPlace {
  origin: Origin;
  /** Path below the agent's root. */
  file: string;
  /** Byte offset of the record in its file; in a document its number, from 0; in a database what `store` says. */
  position: number;
}

/**
 * The pipeline's view of an agent. Pure: no disk, no clock, no network. A new agent is a folder like
 * `pi/` and a line in `all.ts`.
 */
export interface Agent {
  id: AgentId;
  displayName: string;
  /** Its program, by the names it may have in PATH. */
  programs?: readonly string[];
  /** The variables that move its folders. */
  variables?: readonly string[];
  /** The folder of its settings, which is there once the agent has run. */
  folder?(variables: Variables, home: string): string;
  /** Absolute paths of its credentials, JSON or one pair a line; most will not exist. */
  credentials?(variables: Variables, home: string): string[];
  /** Where it says after how long it deletes its transcripts, if it does. */
  settings?: AgentSettings;
  /** What its settings need for it to tell what no transcript of its holds, by a command line that no shell need see. */
  hooks?: AgentHooks;
  /** What its settings need for it to run a command line, which it hands to a shell, when a session begins. */
  startHook?: AgentHooks;
  /** Absolute folders with transcripts; most will not exist. */
  roots(variables: Variables, home: string): string[];
  /** Whether a file below a root is a transcript. */
  isTranscript(path: string): boolean;
  /** Whether a folder below a root may hold transcripts; where an agent does not say, all may. */
  entersFolder?(path: string): boolean;
  /** How records are had from its transcripts, where they are no lines of JSON; told by the path where it keeps several kinds. */
  store?: Store | StoreByPath;
  /** Under which name the agent's hooks may have told what a transcript says; see `cli/read/inbox.ts`. */
  hookedAs?(path: string): string | undefined;
  /** Its session ids are times, counters or names, so two machines may use the same one. */
  hasLocalIds?: true;
  /** Whether a file's name or this record says which session it is, where not every first record does. */
  namesSession?(record: JsonObject, path: string): boolean;
  /** Whether the agent says with a record that the session is over. It may be resumed all the same. */
  endsSession?(record: JsonObject): boolean;
  /**
   * Whether a record says again what earlier ones said, of its session or of the one that was forked: it is left out where
   * those were kept back. Compactions and titles need not be told.
   */
  restates?(record: JsonObject, place: RecordPlace): boolean;
  /** Whether this may be a later writing of a record, which bears the time of the first. */
  bearsEarlierTime?(record: JsonObject): boolean;
  /**
   * Identifies a file. `first` is its first JSON record, or the first near its start that `namesSession`; absent in a file that
   * has none yet.
   */
  identify(file: TranscriptFile, first: JsonObject | undefined): Origin;
  /** The folder a record says the agent works in, where the agent does not call it `cwd`. */
  folderOf?(record: JsonObject): string | undefined;
  /**
   * A key that is equal for two records exactly when the agent wrote the same record twice: into a fork, into a resumed
   * file, or by rewriting. Undefined where the record has no identity of its own.
   */
  recordKey(record: JsonObject, place: RecordPlace): string | undefined;
  /** The events of one record; never throws, and puts every leaf of the record into exactly one of them. */
  parse(record: JsonObject, place: RecordPlace): CapturedEvent[];
}

export interface AgentSettings {
  /** The person's own settings, a JSON document. */
  path(variables: Variables, home: string): string;
  findRetention(settings: JsonObject): Retention | undefined;
}

/** After how many days an agent deletes a transcript, and the name of the setting that says so. */
export interface Retention {
  setting: string;
  days: number;
}

/** Our entries among others in one of the agent's JSON documents. */
export interface AgentHooks {
  path(variables: Variables, home: string): string;
  /** Members that the document's root must have; added where absent. */
  root?: JsonObject;
  /** Names of the lists in the root's `hooks` at whose end an entry goes. */
  events: readonly string[];
  /** The entry that runs a command line. */
  entry(command: string): JsonObject;
}
