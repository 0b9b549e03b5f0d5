import type { FileStat } from '../../transcript/entry/changes.ts';
import { editsAfter } from '../../transcript/entry/edits.ts';
import type { CallEntry, ResultEntry } from '../../transcript/entry/entry.ts';
import { add, type Command, type Facts, type File, keep, type OpenCall, subtract, takeRoom } from './facts.ts';

const MOST = { files: 2_000, reads: 500, commands: 500, unanswered: 200, answered: 40 };
/** The most characters of the name of a running command. */
const MAX_NAME = 100;
/** The most characters, as JSON, of one call that waits for its result. */
const MAX_KEPT = 20_000;

/**
 * Keeps a call until its results arrive.
 *
 * | a call     | when                            | becomes    | its changes                                  |
 * | ---------- | ------------------------------- | ---------- | -------------------------------------------- |
 * | unanswered | a result names it               | answered   | count as the call or its results report them |
 * | unanswered | its command still runs          | unanswered | count as that result reports them            |
 * | unanswered | a result arrives without a call | unanswered | count as that result reports them            |
 * | answered   | another result names it         | answered   | are recounted if that result reports others  |
 * | any        | too many other calls are kept   | forgotten  | stay as they are                             |
 *
 * @param day the day for whose tools the call was counted
 */
export function openCall(facts: Facts, entry: CallEntry, day: string | undefined): void {
  const { name, addOn, lane, callId, changes, continues, sequence } = entry;
  const continued = findRunning(facts, continues);
  const { command, purposes = [], subjects } = continued ?? entry;
  noteRead(facts, entry);
  if (entry.command) {
    const { command } = entry;
    const known = keep(facts, facts.commands, command, MOST.commands, (): Command => [0, 0, null, sequence]);
    if (known) facts.commands.set(command, [known[0] + 1, known[1], null, sequence]);
  }
  if (callId === undefined) {
    addChanges(facts, changes, sequence);
    return;
  }
  forget(facts, callId);
  const call: OpenCall = {
    name,
    ...(addOn && { addOn }),
    ...(lane !== undefined && { lane }),
    ...(day !== undefined && { day }),
    ...(command && { command }),
    purposes,
    ...(subjects && { subjects }),
    ...(continued?.running !== undefined && { running: continued.running }),
    changes,
    isTold: false,
    isAnswered: false,
    isCounted: false,
    room: 0,
  };
  forgetOldest(facts);
  const room = roomOf(callId, call);
  if (room <= MAX_KEPT && hasRoom(facts, room)) {
    facts.openCalls.set(callId, { ...call, room });
    facts.room -= room;
    return;
  }
  // Changes that are too long to keep until the result count at once.
  addChanges(facts, changes, sequence);
  const short = { ...call, changes: [] };
  const rest = roomOf(callId, short);
  if (!hasRoom(facts, rest)) return;
  facts.openCalls.set(callId, { ...short, room: rest });
  facts.room -= rest;
}

/** The call whose command still runs under a name. A call that continues it gets the rest of its output. */
const findRunning = ({ openCalls }: Facts, name: string | undefined): OpenCall | undefined =>
  name === undefined ? undefined : [...openCalls.values()].findLast(({ running }) => running === name);

const READS = /^(?:read|read_?file|view|open_?file)$/i;

/** Adds the path of a file that a reading tool read: `about` is that path. */
function noteRead(facts: Facts, { name, about }: CallEntry): void {
  const { reads } = facts;
  if (!READS.test(name) || about === '' || reads.length >= MOST.reads || reads.includes(about)) return;
  if (takeRoom(facts, about)) reads.push(about);
}

const roomOf = (callId: string, call: OpenCall): number =>
  Buffer.byteLength(callId) + Buffer.byteLength(JSON.stringify(call));

/** Makes room: answered calls are dropped before calls that wait for their first result. */
function hasRoom(facts: Facts, room: number): boolean {
  for (const [callId, { isAnswered }] of facts.openCalls) {
    if (facts.room >= room) break;
    if (isAnswered) forget(facts, callId);
  }
  return facts.room >= room;
}

function forget(facts: Facts, callId: string): void {
  facts.room += facts.openCalls.get(callId)?.room ?? 0;
  facts.openCalls.delete(callId);
}

function forgetOldest(facts: Facts): void {
  const { openCalls } = facts;
  if (openCalls.size < MOST.answered) return;
  const answered = [...openCalls].filter(([, call]) => call.isAnswered).map(([callId]) => callId);
  for (const callId of answered.slice(0, Math.max(0, answered.length - MOST.answered))) forget(facts, callId);
  const [oldest] = openCalls.keys();
  if (openCalls.size >= MOST.unanswered + MOST.answered && oldest !== undefined) forget(facts, oldest);
}

const callOf = ({ openCalls }: Facts, { callId }: ResultEntry): OpenCall | undefined =>
  callId === undefined ? undefined : openCalls.get(callId);

/** Whether this result is the first of its call that failed: agents may report a result twice, and the failure counts once. */
export function isFirstFailure(facts: Facts, entry: ResultEntry): boolean {
  const call = callOf(facts, entry);
  if (!entry.failed || call?.hasFailed) return false;
  if (call) call.hasFailed = true;
  return true;
}

/**
 * @param hasFailed whether the result counts as a failure
 * @returns the call of the result, if it is known
 */
export function closeCall(facts: Facts, entry: ResultEntry, hasFailed: boolean): OpenCall | undefined {
  const { failed, exitCode, changes, sequence } = entry;
  const call = callOf(facts, entry);
  const command = call?.command === undefined ? undefined : facts.commands.get(call.command);
  if (command) {
    if (hasFailed) command[1]++;
    command[2] = Number.isSafeInteger(exitCode) ? (exitCode as number) : command[2];
    command[3] = sequence;
  }
  // Codex reports the effects of a script's commands under their own ids, while the script runs.
  const editor = call ?? (changes.length > 0 ? newestUnanswered(facts, entry.lane) : undefined);
  if (!editor) {
    if (!failed) addChanges(facts, changes, sequence);
    return undefined;
  }
  countEdits(facts, editor, entry);
  if (call) noteEnd(facts, call, entry.running);
  return call;
}

/** Notes that the command of a call still runs, or that it has ended: then no later call continues it. */
function noteEnd({ openCalls }: Facts, call: OpenCall, running: string | undefined): void {
  const { running: before } = call;
  call.isAnswered = running === undefined;
  if (running !== undefined) call.running = running.slice(0, MAX_NAME);
  else if (before !== undefined) {
    for (const other of openCalls.values()) {
      if (other.running !== before) continue;
      delete other.running;
      other.isAnswered = true;
    }
  }
}

const newestUnanswered = ({ openCalls }: Facts, lane: string | undefined): OpenCall | undefined =>
  [...openCalls.values()].findLast((call) => !call.isAnswered && call.lane === lane);

function countEdits(facts: Facts, call: OpenCall, entry: ResultEntry): void {
  const { changes, isTold } = editsAfter(call, entry);
  if (changes !== call.changes && call.isCounted) removeChanges(facts, call.changes);
  if (changes !== call.changes || !call.isCounted) addChanges(facts, changes, entry.sequence);
  const room = Buffer.byteLength(JSON.stringify(changes)) - Buffer.byteLength(JSON.stringify(call.changes));
  call.isTold = isTold;
  call.isCounted = true;
  // Without room to remember the changes, a repeated result would count again.
  const isKept = room <= Math.min(facts.room, MAX_KEPT - call.room);
  call.changes = isKept ? changes : [];
  const change = isKept ? room : 0;
  call.room += change;
  facts.room -= change;
}

function addChanges(facts: Facts, changes: readonly FileStat[], sequence: number): void {
  for (const { path, added, removed } of changes) {
    facts.linesAdded = add(facts.linesAdded, added);
    facts.linesRemoved = add(facts.linesRemoved, removed);
    const file = keep(facts, facts.files, path, MOST.files, (): File => [0, 0, 0, sequence]);
    if (!file) continue;
    file[0]++;
    file[1] = add(file[1], added);
    file[2] = add(file[2], removed);
  }
}

function removeChanges(facts: Facts, changes: readonly FileStat[]): void {
  for (const { path, added, removed } of changes) {
    facts.linesAdded = subtract(facts.linesAdded, added);
    facts.linesRemoved = subtract(facts.linesRemoved, removed);
    const file = facts.files.get(path);
    if (!file) continue;
    file[0] = Math.max(0, file[0] - 1);
    file[1] = subtract(file[1], added);
    file[2] = subtract(file[2], removed);
    if (file[0] === 0) facts.files.delete(path);
  }
}
