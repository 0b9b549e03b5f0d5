import type { AddOn } from '../../contract/entry/add-on.ts';
import type { Purpose } from '../../contract/entry/command.ts';
import type { Edits } from '../../contract/entry/edits.ts';
import type { Milestone } from '../../contract/review.ts';

/** Raised whenever the same events give other facts or entries: what an earlier version derived is derived anew. */
export const VERSION = 12;

/** Tokens; `input` includes cached ones. */
export type Tokens = [input: number, cached: number, cacheWrite: number, output: number];

export type Tool = [calls: number, failed: number];
/** Sessions list an add-on whether it is used or not. */
export type AddOnUse = [calls: number, failed: number, lastUsedAt: number, isListed: 0 | 1];
export type File = [edits: number, added: number, removed: number, sequence: number];
export type Command = [runs: number, failed: number, exitCode: number | null, sequence: number];

/** What happened on a day, in UTC. */
export interface Day {
  prompts: number;
  calls: number;
  failures: number;
  /** Prompts and calls by hour. */
  hours: Map<string, number>;
  tools: Map<string, Tool>;
  models: Map<string, Tokens>;
  /** By kind and name, separated by a space. */
  addOns: Map<string, AddOnUse>;
  /** Tokens of sub-agents, by lane and model, separated by a space. */
  lanes: Map<string, Tokens>;
}

/** A call that may still get a result: one without any, or one of the last that have some. */
export interface OpenCall extends Edits {
  name: string;
  addOn?: AddOn;
  lane?: string;
  /** The day to whose tools it was added. */
  day?: string;
  command?: string;
  purposes: readonly Purpose[];
  subjects?: readonly string[];
  isAnswered: boolean;
  /** Whether its changes are in the sums. */
  isCounted: boolean;
  /** Whether a result has told how a run of tests ended. */
  isJudged?: boolean;
  /** Bytes of `Facts.room` that it holds. */
  room: number;
}

/**
 * The facts of a session after some of its events, stored as JSON in `session_facts.facts` and enough to continue from.
 * Every list is bounded, and all names together (`room`), since events may come from any client.
 */
export interface Facts {
  /** Sequence of the last event that is in it. */
  folded: number;
  /** Some records may be written again by their agent: then the facts are made anew from all entries. */
  isRewritten: boolean;
  title?: string;
  titleByPerson?: boolean;
  firstPrompt?: string;
  folder?: string;
  /** Of the repository; its address where known, else a folder. */
  repository?: string | undefined;
  address?: string;
  person?: string;
  model?: string;
  branches: string[];
  prompts: number;
  calls: number;
  failures: number;
  redactions: number;
  linesAdded: number;
  linesRemoved: number;
  /** Times that agents told, in ms since the epoch: the least, the greatest, and the one before the present entry. */
  first?: number;
  last?: number;
  clock?: number;
  /** When the model or one of its tools last worked, without sub-agents. */
  workedAt?: number;
  /** How long after it happened the last event was stored, in ms. */
  lag?: number;
  interrupted: boolean;
  testsPassed?: boolean;
  files: Map<string, File>;
  /** Paths of files that the agent's tools read. */
  reads: string[];
  commands: Map<string, Command>;
  openCalls: Map<string, OpenCall>;
  /** Responses that may be reported again, with the largest figures so far. */
  responses: Map<string, [day: string, model: string, ...Tokens]>;
  /** Beginnings of the keys of responses before those, one behind the other: what is reported again counts no more. */
  counted: string;
  days: Map<string, Day>;
  /** The type of each sub-agent, by lane. */
  laneTypes: Map<string, string>;
  milestones: Milestone[];
  shape: Shape;
  /** Bytes that names may still take. */
  room: number;
}

/** Work and failures in equal slices of `width` ms from the first time on; see `shape.ts`. */
export interface Shape {
  width: number;
  work: number[];
  failures: number[];
}

/** Of the JSON, which has at most about a fifth more in numbers and punctuation for each name. */
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
  counted: '',
  milestones: [],
  shape: { width: 1_000, work: [], failures: [] },
  room: ROOM,
});

/** The facts as JSON has them: a map is a list of its entries. Names come from anybody, so they are never keys of objects. */
type Written = Omit<Facts, (typeof MAPS)[number] | 'days'> &
  Record<(typeof MAPS)[number], [string, unknown][]> & { days: [string, WrittenDay][] };
type WrittenDay = Omit<Day, (typeof MAPS_OF_DAY)[number]> & Record<(typeof MAPS_OF_DAY)[number], [string, unknown][]>;

const MAPS = ['files', 'commands', 'openCalls', 'responses', 'laneTypes'] as const;
const MAPS_OF_DAY = ['hours', 'tools', 'models', 'addOns', 'lanes'] as const;

/** Each map is named, because a replacer of JSON that looks for them takes ten times as long. */
export function writeFacts(facts: Facts): string {
  const days = [...facts.days].map(([day, of]): [string, WrittenDay] => [
    day,
    {
      ...of,
      hours: [...of.hours],
      tools: [...of.tools],
      models: [...of.models],
      addOns: [...of.addOns],
      lanes: [...of.lanes],
    },
  ]);
  const { files, commands, openCalls, responses, laneTypes } = facts;
  const written: Written = {
    ...facts,
    files: [...files],
    commands: [...commands],
    openCalls: [...openCalls],
    responses: [...responses],
    laneTypes: [...laneTypes],
    days,
  };
  return JSON.stringify(written);
}

/**
 * @param text of this version of the rules
 * @returns no facts for the empty text
 */
export function readFacts(text: string): Facts {
  if (text === '') return noFacts();
  const facts = JSON.parse(text);
  for (const name of MAPS) facts[name] = new Map(facts[name]);
  facts.days = new Map(facts.days);
  for (const day of facts.days.values()) for (const name of MAPS_OF_DAY) day[name] = new Map(day[name]);
  return facts as Facts;
}

/** The value under a name, new where there is room for it; undefined where there is none. */
export function keep<Value>(
  facts: Facts,
  map: Map<string, Value>,
  name: string,
  most: number,
  make: () => NoInfer<Value>,
): Value | undefined {
  const known = map.get(name);
  if (known !== undefined) return known;
  if (map.size >= most || !takeRoom(facts, name)) return undefined;
  const made = make();
  map.set(name, made);
  return made;
}

/** Bytes of the numbers beside a name. */
const BESIDE = 40;

export function takeRoom(facts: Facts, name: string): boolean {
  const bytes = Buffer.byteLength(JSON.stringify(name)) + BESIDE;
  if (facts.room < bytes) return false;
  facts.room -= bytes;
  return true;
}

/** The largest count of one event. */
const MOST_COUNTED = 1_000_000;
const LARGEST = 2_147_483_647;

/** Adds a count from an event. The sum is never negative and fits its column, for any event. */
export const add = (one: number, other: number): number =>
  Math.min(LARGEST, one + Math.min(MOST_COUNTED, Math.max(0, Math.trunc(other))));

/** Undoes `add`. */
export const subtract = (one: number, other: number): number =>
  Math.max(0, one - Math.min(MOST_COUNTED, Math.max(0, Math.trunc(other))));
