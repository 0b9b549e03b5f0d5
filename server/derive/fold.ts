import { hash } from 'node:crypto';
import type { Entry } from '../../contract/entry/entry.ts';
import { modelFor, noteModels } from '../../contract/entry/models.ts';
import type { Usage } from '../../contract/entry/usage.ts';
import { promptLine } from '../../contract/entry/value.ts';
import { halfHourOf } from '../store/half-hours.ts';
import { add, type Day, type Facts, keep, type Tokens, type Tool } from './facts.ts';
import { noteFailure, noteLaneTokens, noteLaneType, noteListed, noteUse } from './fold-add-ons.ts';
import { closeCall, isFirstFailure, openCall } from './fold-calls.ts';
import { noteMeta } from './fold-meta.ts';
import { noteMilestones, noteWait } from './milestones.ts';
import { addToShape } from './shape.ts';

/** The most that one session can make others keep. */
const MOST = {
  responses: 100,
  counted: 2_000,
  days: 200,
  /** Of all days together. */
  halfHours: 3_000,
  tools: 200,
  models: 50,
};
const FIRST_PROMPT_LENGTH = 300;
/** The limit for one event. It keeps sums of tokens whole numbers. */
const MOST_TOKENS = 1_000_000_000;
const WORK: ReadonlySet<Entry['kind']> = new Set(['prompt', 'answer', 'reasoning', 'call', 'result', 'subagent']);

/** Adds entries in order. No entry makes it throw or makes the facts grow without bound. */
export function fold(facts: Facts, entries: Iterable<Entry>): void {
  for (const entry of entries) addEntry(facts, entry);
}

function addEntry(facts: Facts, entry: Entry): void {
  const begins = entry.timed && facts.first === undefined;
  noteTime(facts, entry);
  noteModels(facts, entry);
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
  }
  if (kind === 'prompt' && !isSubagent) addPrompt(facts, entry);
  else if (kind === 'call') addCall(facts, entry);
  else if (kind === 'result') addResult(facts, entry, failed);
  else if (kind === 'usage') addUsage(facts, entry, entry.usage);
  else if (kind === 'meta') noteMeta(facts, entry);
  else if (kind === 'turn') facts.interrupted = entry.interrupted;
  else if (kind === 'subagent') noteLaneType(facts, entry);
  else if (kind === 'quiet' && entry.brief && isSubagent) addTask(facts, entry);
  else if (kind === 'quiet' && entry.listed) noteListed(facts, dayAt(facts, entry), entry.listed);
  if (entry.echo?.usage) addUsage(facts, entry, entry.echo.usage);
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

function addPrompt(facts: Facts, entry: Extract<Entry, { kind: 'prompt' }>): void {
  facts.prompts = add(facts.prompts, 1);
  facts.interrupted = false;
  const day = dayAt(facts, entry);
  note(day, 'prompts');
  if (day) addHalfHour(facts, day, halfHourAt(facts, entry), 1);
  if (entry.addOn) noteUse(facts, day, entry.addOn, timeOf(facts, entry));
  noteWait(facts, entry);
  const line =
    facts.prompts === 1 || facts.firstPrompt === undefined ? promptLine(entry.text, FIRST_PROMPT_LENGTH - 1) : '';
  if (line) facts.firstPrompt = line;
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

/** Agents report a response several times, sometimes with another response in between. Its largest figures count. */
function addUsage(facts: Facts, entry: Entry, usage: Usage): void {
  const { input, cacheRead, cacheWrite, output, responseId, model } = usage;
  const told = [input, cacheRead, cacheWrite, output].map((count) =>
    Math.min(MOST_TOKENS, Math.trunc(count)),
  ) as Tokens;
  const key = responseId === undefined ? undefined : hash('sha256', responseId, 'base64url').slice(0, 12);
  const known = key === undefined ? undefined : facts.responses.get(key);
  if (key !== undefined && !known && isCounted(facts, key)) return;
  const day = known?.[0] ?? dayOf(facts, entry);
  const of = known?.[1] ?? model ?? modelFor(facts, entry.lane) ?? '';
  const before = (known?.slice(2) ?? [0, 0, 0, 0]) as Tokens;
  const largest = told.map((count, at) => Math.max(count, before[at] ?? 0)) as Tokens;
  const days = known ? facts.days.get(day) : dayAt(facts, entry);
  const tokens = days && (keep(facts, days.models, of, MOST.models, (): Tokens => [0, 0, 0, 0]) ?? days.models.get(''));
  const added = largest.map((count, at) => count - (before[at] ?? 0)) as Tokens;
  if (tokens) for (const [at, count] of added.entries()) tokens[at] = (tokens[at] ?? 0) + count;
  if (entry.lane !== undefined) noteLaneTokens(facts, days, entry, of, added);
  if (key === undefined) return;
  facts.responses.delete(key);
  facts.responses.set(key, [day, of, ...largest]);
  for (const oldest of facts.responses.keys()) {
    if (facts.responses.size <= MOST.responses) break;
    facts.responses.delete(oldest);
    facts.counted = (facts.counted + oldest.slice(0, COUNTED_LENGTH)).slice(-COUNTED_LENGTH * MOST.counted);
  }
}

/** 36 bits: enough to distinguish thousands of responses. */
const COUNTED_LENGTH = 6;

/**
 * Whether the response was already counted. A sub-agent's file may begin with a copy of hundreds of responses of its parent
 * session.
 */
function isCounted({ counted }: Facts, key: string): boolean {
  const wanted = key.slice(0, COUNTED_LENGTH);
  let at = counted.indexOf(wanted);
  while (at > 0 && at % COUNTED_LENGTH !== 0) at = counted.indexOf(wanted, at + 1);
  return at >= 0;
}
