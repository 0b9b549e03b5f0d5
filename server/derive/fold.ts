import type { Entry, PromptEntry } from '../../transcript/entry/entry.ts';
import { noteModels } from '../../transcript/entry/models.ts';
import { noteTold, usagesOf } from '../../transcript/entry/told.ts';
import { promptLine } from '../../transcript/entry/value.ts';
import { halfHourOf } from '../store/half-hours.ts';
import { add, type Day, type Facts, keep, type Tool } from './facts.ts';
import { noteFailure, noteLaneSpent, noteLaneType, noteListed, noteUse } from './fold-add-ons.ts';
import { closeCall, isFirstFailure, openCall } from './fold-calls.ts';
import { noteMeta } from './fold-meta.ts';
import { noteMilestones, noteWait } from './milestones.ts';
import type { PriceOf } from './prices/prices.ts';
import { addToShape } from './shape.ts';
import { addUsage } from './spent.ts';

/** The most that one session can make others keep. */
const MOST = {
  days: 200,
  /** Of all days together. */
  halfHours: 3_000,
  tools: 200,
  turns: 200,
};
const FIRST_PROMPT_LENGTH = 300;
const WORK: ReadonlySet<Entry['kind']> = new Set(['prompt', 'answer', 'reasoning', 'call', 'result', 'subagent']);

/** Adds entries in order. No entry makes it throw or makes the facts grow without bound. */
export function fold(facts: Facts, entries: Iterable<Entry>, priceOf: PriceOf): void {
  for (const entry of entries) addEntry(facts, entry, priceOf);
}

function addEntry(facts: Facts, entry: Entry, priceOf: PriceOf): void {
  const begins = entry.timed && facts.first === undefined;
  noteTime(facts, entry);
  noteModels(facts, entry);
  noteTold(facts, entry);
  facts.redactions = add(facts.redactions, entry.redactions ?? 0);
  const { kind } = entry;
  const isSubagent = isOfSubagent(entry);
  // Entries before the first known time were counted on the day of their arrival.
  if (begins && facts.days.values().every(isEmpty)) facts.days.clear();
  if (facts.days.size === 0 && (begins || kind !== 'quiet')) dayAt(facts, entry);
  const failed = kind === 'error' || (kind === 'result' && isFirstFailure(facts, entry));
  const offset = timeOf(facts, entry) - (facts.first ?? entry.time);
  if (WORK.has(kind)) addToShape(facts.shape, offset, 'work');
  if (failed) {
    addToShape(facts.shape, offset, 'failures');
    facts.failures = add(facts.failures, 1);
    note(dayAt(facts, entry), 'failures');
    if (!isSubagent) noteInTurn(facts, 'failures');
  }
  if (kind === 'prompt' && !isSubagent) addPrompt(facts, entry);
  else if (kind === 'call') addCall(facts, entry);
  else if (kind === 'result') addResult(facts, entry, failed);
  else if (kind === 'meta') noteMeta(facts, entry);
  else if (kind === 'turn') facts.interrupted = entry.interrupted;
  else if (kind === 'subagent') noteLaneType(facts, entry);
  else if (kind === 'quiet' && entry.brief && isSubagent) addTask(facts, entry);
  else if (kind === 'quiet' && entry.listed) noteListed(facts, dayAt(facts, entry), entry.listed);
  addUsages(facts, entry, priceOf);
  noteMilestones(facts, entry);
  const works = kind === 'answer' || kind === 'result' || kind === 'call' || kind === 'turn';
  if (works && entry.timed && !isSubagent) facts.workedAt = entry.time;
  if (works && kind !== 'turn') facts.interrupted = false;
}

/** Whether the entry belongs to a sub-agent, even if only the chain of records shows the lane. */
const isOfSubagent = ({ lane, chain }: Entry): boolean => lane !== undefined || chain?.isSide === true;

/** The last year for which days are written. */
const LATEST = Date.parse('9999-12-31T00:00:00Z');
const settle = (time: number) => Math.min(LATEST, Math.max(0, time));

function noteTime(facts: Facts, { timed, time: told }: Entry): void {
  if (!timed) return;
  const time = settle(told);
  facts.first = Math.min(facts.first ?? time, time);
  facts.last = Math.max(facts.last ?? time, time);
  facts.clock = time;
}

/** An entry without a time gets the time of the previous one. */
const timeOf = (facts: Facts, { timed, time }: Entry) => settle(timed ? time : (facts.clock ?? time));

const dayOf = (facts: Facts, entry: Entry): string => new Date(timeOf(facts, entry)).toISOString().slice(0, 10);

const halfHourAt = (facts: Facts, entry: Entry): string => halfHourOf(timeOf(facts, entry)).slice(11);

/** The day of an entry. The session was active in that half hour of it. */
function dayAt(facts: Facts, entry: Entry): Day | undefined {
  const day = keep(facts, facts.days, dayOf(facts, entry), MOST.days, () => ({
    prompts: 0,
    calls: 0,
    failures: 0,
    halfHours: new Map(),
    tools: new Map(),
    models: new Map(),
    addOns: new Map(),
    lanes: new Map(),
  }));
  if (day) addHalfHour(facts, day, halfHourAt(facts, entry), 0);
  return day;
}

function addHalfHour(facts: Facts, { halfHours }: Day, name: string, count: 0 | 1): void {
  const known = halfHours.get(name);
  if (known === undefined && facts.days.values().reduce((sum, day) => sum + day.halfHours.size, 0) >= MOST.halfHours)
    return;
  if (known === undefined || count > 0) halfHours.set(name, (known ?? 0) + count);
}

const isEmpty = ({ prompts, calls, failures, models, addOns }: Day) =>
  prompts + calls + failures + models.size + addOns.size === 0;

function note(day: Day | undefined, figure: 'prompts' | 'calls' | 'failures'): void {
  if (day) day[figure] = add(day[figure], 1);
}

function addPrompt(facts: Facts, entry: PromptEntry): void {
  facts.prompts = add(facts.prompts, 1);
  facts.interrupted = false;
  const day = dayAt(facts, entry);
  note(day, 'prompts');
  if (day) addHalfHour(facts, day, halfHourAt(facts, entry), 1);
  if (entry.addOn) noteUse(facts, day, entry.addOn, timeOf(facts, entry));
  noteWait(facts, entry);
  openTurn(facts, entry);
  const line =
    facts.prompts === 1 || facts.firstPrompt === undefined ? promptLine(entry.text, FIRST_PROMPT_LENGTH - 1) : '';
  if (line) facts.firstPrompt = line;
}

/** The most bytes of all kept turns. They have their own limit, because the room of names is for what figures are summed by. */
const MAX_TURN_BYTES = 40_000;

/** After a turn that found no place, no later turn gets one, so that the kept turns are the first. */
function openTurn({ turns, prompts }: Facts, { sequence, text }: PromptEntry): void {
  if (turns.length !== prompts - 1 || turns.length >= MOST.turns) return;
  const turn = { sequence, prompt: promptLine(text), calls: 0, failures: 0 };
  if (Buffer.byteLength(JSON.stringify([...turns, turn])) <= MAX_TURN_BYTES) turns.push(turn);
}

/** Sub-agents may work beyond the turn that started them, and their events may arrive later, so their work is in no turn. */
function noteInTurn({ turns, prompts }: Facts, figure: 'calls' | 'failures'): void {
  const turn = turns.length === prompts ? turns.at(-1) : undefined;
  if (turn) turn[figure] = add(turn[figure], 1);
}

/** The task of a sub-agent says what a session is about, until the first prompt arrives. */
function addTask(facts: Facts, entry: Extract<Entry, { kind: 'quiet' }>): void {
  const line = facts.firstPrompt === undefined ? promptLine(entry.preview, FIRST_PROMPT_LENGTH - 1) : '';
  if (line) facts.firstPrompt = line;
}

function addCall(facts: Facts, entry: Extract<Entry, { kind: 'call' }>): void {
  facts.calls = add(facts.calls, 1);
  const day = dayAt(facts, entry);
  note(day, 'calls');
  if (!isOfSubagent(entry)) noteInTurn(facts, 'calls');
  if (day) addHalfHour(facts, day, halfHourAt(facts, entry), 1);
  const tool = day && keep(facts, day.tools, entry.name, MOST.tools, (): Tool => [0, 0]);
  if (tool) tool[0]++;
  if (entry.addOn) noteUse(facts, day, entry.addOn, timeOf(facts, entry));
  openCall(facts, entry, day && dayOf(facts, entry));
}

/** A failure counts for the tool on the day of the call, which may have been before midnight. */
function addResult(facts: Facts, entry: Extract<Entry, { kind: 'result' }>, failed: boolean): void {
  const call = closeCall(facts, entry, failed);
  const name = call?.name ?? entry.name;
  if (!failed || name === undefined) return;
  const day = call?.day === undefined ? dayAt(facts, entry) : facts.days.get(call.day);
  const tool = day?.tools.get(name);
  if (tool) tool[1]++;
  if (call?.addOn) noteFailure(day, call.addOn);
}

function addUsages(facts: Facts, entry: Entry, priceOf: PriceOf): void {
  for (const usage of usagesOf(facts, entry)) {
    const added = addUsage(facts, entry, usage, priceOf, dayOf(facts, entry), () => dayAt(facts, entry));
    if (added && entry.lane !== undefined) noteLaneSpent(facts, entry.lane, added);
  }
}
