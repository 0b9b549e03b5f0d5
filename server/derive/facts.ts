import type { Milestone, SessionFacts } from '../../contract/review.ts';
import type { AddOn } from '../../transcript/entry/add-on.ts';
import type { Purpose } from '../../transcript/entry/command.ts';
import type { Price } from '../../transcript/entry/cost.ts';
import type { Edits } from '../../transcript/entry/edits.ts';
import type { Told } from '../../transcript/entry/entry.ts';
import type { Terms } from '../../transcript/entry/usage.ts';
import { unpackText } from '../store/packed.ts';

/**
 * Raised whenever the same events give other facts or entries. The service then derives again everything that an earlier
 * version derived.
 */
export const VERSION = 22;

/** The counts of a response that have a price; `input` includes cached tokens. */
export type Tokens = [
  input: number,
  cached: number,
  cacheWrite: number,
  cacheWrite1h: number,
  output: number,
  webSearches: number,
];

/** What the responses of a model under the same terms add up to on a day. */
export interface Spent {
  tokens: Tokens;
  /** Nanodollars. */
  cost: number;
  /** Input and output tokens without a known price. */
  unpriced: number;
  /** The price of all of them; absent if no price is known, or several models share the sum. */
  price?: Price;
  /** The length of a prompt in tokens, above which the price holds. */
  above?: number;
  upTo?: number;
  /** The terms whose price is not known, so that the normal price was taken. */
  unknown?: string;
}

export type Tool = [calls: number, failed: number];
/** `isListed`: sessions list an add-on whether it is used or not. */
export type AddOnUse = [calls: number, failed: number, lastUsedAt: number, isListed: 0 | 1];
export type File = [edits: number, added: number, removed: number, sequence: number];
export type Command = [runs: number, failed: number, exitCode: number | null, sequence: number];

/** The activity of one day, in UTC. */
export interface Day {
  prompts: number;
  calls: number;
  failures: number;
  /** Prompts and calls by half hour, such as `14:30`; 0 for a half hour with other activity only. */
  halfHours: Map<string, number>;
  tools: Map<string, Tool>;
  /** By terms and model, separated by a space; see `spent.ts`. */
  models: Map<string, Spent>;
  /** By kind and name, separated by a space. */
  addOns: Map<string, AddOnUse>;
  /** Tokens of sub-agents, by lane and model, separated by a space. */
  lanes: Map<string, Spent>;
}

/** `key` is that of the sum to which the response was added; null if there was no room for it. */
export type CountedResponse = [day: string, key: string | null, model: string, terms: string, ...Tokens];

/** A call that may still get a result: it has no result yet, or it is one of the last answered calls. */
export interface OpenCall extends Edits {
  name: string;
  addOn?: AddOn;
  lane?: string;
  /** The day for whose tools it was counted. */
  day?: string;
  command?: string;
  purposes: readonly Purpose[];
  subjects?: readonly string[];
  /** The command still runs, under this name. */
  running?: string;
  isAnswered: boolean;
  /** Whether its changes are in the sums. */
  isCounted: boolean;
  /** Whether one of its results has failed. */
  hasFailed?: true;
  /** Whether a result has reported how a run of tests ended. */
  isJudged?: boolean;
  /** The bytes of `Facts.room` that it uses. */
  room: number;
}

/**
 * The facts of a session after some of its events. They are stored as compressed JSON in `session_facts.facts` and suffice to continue
 * from. Every list is bounded, and so are all names together (`room`), because any client may send events.
 */
export interface Facts {
  /** Sequence of the last event that these facts include. */
  folded: number;
  /** Whether the agent may have written some records again. The facts are then derived again from all entries. */
  isRewritten: boolean;
  title?: string;
  titleByPerson?: boolean;
  firstPrompt?: string;
  folder?: string;
  /** The repository: its address if known, otherwise a folder. */
  repository?: string | undefined;
  address?: string;
  /** The name of the account on the machine. */
  account?: string;
  model?: string;
  /** The model of each sub-agent, by lane. */
  laneModels: Map<string, string>;
  /** Whose records have said where the session ran: those of a sub-agent count until the session's own arrive. */
  placedBy?: 'subagent' | 'session';
  branches: string[];
  prompts: number;
  calls: number;
  failures: number;
  redactions: number;
  linesAdded: number;
  linesRemoved: number;
  /** Times that agents reported, in ms since the epoch: the earliest, the latest, and the one before the current entry. */
  first?: number;
  last?: number;
  clock?: number;
  /** When the model or one of its tools last worked, without sub-agents. */
  workedAt?: number;
  /** The delay between the last event and its storage, in ms. */
  lag?: number;
  interrupted: boolean;
  /** The last result of the tests, the event since which it stands, and whether they failed at any time. */
  tests?: { passed: boolean; sequence: number; wereRed: boolean };
  /** All commits, and the event of the last one. */
  commits: { count: number; sequence: number };
  /** The hashes of the commits that were counted, as `seen-keys.ts` stores them. */
  committed: string;
  files: Map<string, File>;
  /** Paths of files that the agent's tools read. */
  reads: string[];
  commands: Map<string, Command>;
  openCalls: Map<string, OpenCall>;
  /** Responses that may be reported again, with the largest figures so far. */
  responses: Map<string, CountedResponse>;
  /** What the current record has told about its response. */
  told?: Told;
  /** The terms in the settings of the session and its sub-agents. */
  settings: Map<string, Terms>;
  /** The context of the model that was used last, in tokens. */
  window?: { most: number; usual: number };
  /** The beginnings of the keys of earlier responses, concatenated. A repeated report of these no longer counts. */
  counted: string;
  days: Map<string, Day>;
  /** The type of each sub-agent, by lane. */
  laneTypes: Map<string, string>;
  milestones: Milestone[];
  /** The first turns. The last one goes on if there are as many of them as prompts. */
  turns: SessionFacts['turns'];
  shape: Shape;
  /** The bytes that names may still use. */
  room: number;
}

/** Work and failures in equal slices of `width` ms from the first time on; see `shape.ts`. */
export interface Shape {
  width: number;
  work: number[];
  failures: number[];
}

/** The size of the names in the JSON. Numbers and punctuation add at most about a fifth to each name. */
const ROOM = 160_000;

export const noFacts = (): Facts => ({
  folded: 0,
  isRewritten: false,
  branches: [],
  prompts: 0,
  calls: 0,
  failures: 0,
  redactions: 0,
  linesAdded: 0,
  linesRemoved: 0,
  interrupted: false,
  files: new Map(),
  reads: [],
  commands: new Map(),
  openCalls: new Map(),
  responses: new Map(),
  days: new Map(),
  laneTypes: new Map(),
  laneModels: new Map(),
  settings: new Map(),
  counted: '',
  commits: { count: 0, sequence: 0 },
  committed: '',
  milestones: [],
  turns: [],
  shape: { width: 1_000, work: [], failures: [] },
  room: ROOM,
});

/**
 * The form of the facts in JSON: a map becomes a list of its entries. Anybody may choose the names, so they never become keys
 * of objects.
 */
type Written = Omit<Facts, (typeof MAPS)[number] | 'days'> &
  Record<(typeof MAPS)[number], [string, unknown][]> & { days: [string, WrittenDay][] };
type WrittenDay = Omit<Day, (typeof MAPS_OF_DAY)[number]> & Record<(typeof MAPS_OF_DAY)[number], [string, unknown][]>;

const MAPS = ['files', 'commands', 'openCalls', 'responses', 'laneTypes', 'laneModels', 'settings'] as const;
const MAPS_OF_DAY = ['halfHours', 'tools', 'models', 'addOns', 'lanes'] as const;

/** Each map is named here, because a JSON replacer that searches for maps takes ten times as long. */
export function writeFacts(facts: Facts): string {
  const days = [...facts.days].map(([day, of]): [string, WrittenDay] => [
    day,
    {
      ...of,
      halfHours: [...of.halfHours],
      tools: [...of.tools],
      models: [...of.models],
      addOns: [...of.addOns],
      lanes: [...of.lanes],
    },
  ]);
  const { files, commands, openCalls, responses, laneTypes, laneModels, settings } = facts;
  const written: Written = {
    ...facts,
    files: [...files],
    commands: [...commands],
    openCalls: [...openCalls],
    responses: [...responses],
    laneTypes: [...laneTypes],
    laneModels: [...laneModels],
    settings: [...settings],
    days,
  };
  return JSON.stringify(written);
}

/** @param stored facts of this version of the rules; null if it has derived nothing yet */
export const readStoredFacts = (stored: Uint8Array | null): Facts =>
  stored === null ? noFacts() : readFacts(unpackText(stored));

/** @param text facts of this version of the rules */
export function readFacts(text: string): Facts {
  const facts = JSON.parse(text);
  for (const name of MAPS) facts[name] = new Map(facts[name]);
  facts.days = new Map(facts.days);
  for (const day of facts.days.values()) for (const name of MAPS_OF_DAY) day[name] = new Map(day[name]);
  return facts as Facts;
}

/** The value of a name. A new name gets a value if there is room for it; otherwise the result is undefined. */
export function keep<Value>(
  facts: Facts,
  map: Map<string, Value>,
  name: string,
  most: number,
  make: () => NoInfer<Value>,
  beside = BESIDE,
): Value | undefined {
  const known = map.get(name);
  if (known !== undefined) return known;
  if (map.size >= most || !takeRoom(facts, name, beside)) return undefined;
  const made = make();
  map.set(name, made);
  return made;
}

/** The bytes of the numbers for one name. */
const BESIDE = 40;

export function takeRoom(facts: Facts, name: string, beside = BESIDE): boolean {
  const bytes = Buffer.byteLength(JSON.stringify(name)) + beside;
  if (facts.room < bytes) return false;
  facts.room -= bytes;
  return true;
}

/** The largest count of one event. */
const MAX_COUNTED = 1_000_000;
const LARGEST = 2_147_483_647;

/** Adds a count from an event. For any event, the sum is never negative and fits its column. */
export const add = (one: number, other: number): number =>
  Math.min(LARGEST, one + Math.min(MAX_COUNTED, Math.max(0, Math.trunc(other))));

/** Undoes `add`. */
export const subtract = (one: number, other: number): number =>
  Math.max(0, one - Math.min(MAX_COUNTED, Math.max(0, Math.trunc(other))));
