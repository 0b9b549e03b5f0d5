import type { LeafDigest } from '../../contract/digest.ts';
import { compareLeaves, haveSameValues, isWithheld } from './compare.ts';
import { type ExpectedEvent, joinTexts } from './expect.ts';
import type { Finding } from './findings.ts';
import type { Held } from './held.ts';
import type { LackingRecord } from './notes.ts';
import { findCandidates, type Run, toRuns } from './runs.ts';
import { countRecord, type KnownFile, type Verified, type Verifier } from './session.ts';

/** An event that is not held as it should be, and what is held in its place. */
interface Lack {
  event: ExpectedEvent;
  run: Run | undefined;
  leaves: readonly LeafDigest[] | undefined;
  problem: Pick<Finding, 'problem' | 'part' | 'leaves'>;
}

/** Finds out what has become of the records that are not held exactly as they would be captured now. */
export async function resolveLacking(verifier: Verifier, verified: Verified): Promise<void> {
  for (const record of verifier.notes.lacking()) {
    if (verifier.isStopped()) return;
    await resolveRecord(verifier, verified, record);
  }
}

async function resolveRecord(verifier: Verifier, verified: Verified, record: LackingRecord): Promise<void> {
  const { notes, findings } = verifier;
  const { session, files } = verified;
  const file = files[record.file] as KnownFile;
  // A copy of a record that is captured from another place.
  if (!notes.meet(record.identity, session.id) && record.others === 0) return;
  const moved = record.events.map((event) => takeMoved(verifier, event));
  const events = record.events.filter((_, index) => moved[index] === undefined);
  if (events.length === 0) return countRecord(findings, moved.flat());
  if (file.isLeftOut) return findings.count('leftOut');
  if (file.transcript?.isKnown === false) return findings.count('waiting');

  const runs = toRuns(findCandidates(verifier, verified, record, events));
  const lacks: Lack[] = [];
  for (const event of events) {
    const run = runs.find(({ index, isPaired }) => index === event.index && !isPaired);
    if (run) run.isPaired = true;
    const lack = await compareRun(verifier, verified, event, run);
    if (lack) lacks.push(lack);
  }
  if (lacks.length === 0) return findings.count('records');
  if (await isRenamed(verifier, verified, lacks, runs)) {
    findings.count('records');
    return findings.count('renamed');
  }
  for (const { event, run, problem } of lacks) {
    for (const row of run?.rows ?? []) verifier.held.take(row.id);
    tell(verifier, verified, record, event, run, problem);
  }
}

/** The events that carry it, taken, where they are the same but for where they came from. */
function takeMoved({ held }: Verifier, { eventType, payloads }: ExpectedEvent): Held[] | undefined {
  const rows = payloads.map(({ content }) => (content === undefined ? undefined : held.findMoved(content, eventType)));
  if (!rows.every((row) => row !== undefined)) return undefined;
  for (const { id } of rows) held.take(id);
  return rows;
}

/** Undefined where the event is there, or is so but for what is masked. */
async function compareRun(
  verifier: Verifier,
  { serviceIds }: Verified,
  event: ExpectedEvent,
  run: Run | undefined,
): Promise<Lack | undefined> {
  const { answers, held, findings, digester } = verifier;
  if (run === undefined) return { event, run, leaves: undefined, problem: { problem: 'missing' } };
  const serviceId = serviceIds[run.place] ?? '';
  if (!run.isWhole) return { event, run, leaves: undefined, problem: explainParts(event, run) };
  const leaves = await answers.leaves(serviceId, run.sequence, run.rows.length);
  if (leaves === undefined) return { event, run, leaves, problem: { problem: 'different' } };
  const text = joinTexts(event);
  const compared = compareLeaves(text, leaves, digester);
  const isSameType = run.eventType === event.eventType;
  const isMasked = (compared.result === 'masked' && isSameType) || isWithheld(text, leaves, digester);
  if (!isMasked && (compared.result !== 'same' || !isSameType)) {
    const places = compared.result === 'different' ? compared.leaves : [TYPE];
    return { event, run, leaves, problem: { problem: 'different', leaves: places } };
  }
  for (const { id } of run.rows) held.take(id);
  findings.count('events', run.rows.length);
  if (isMasked) findings.count('masked');
  return undefined;
}

const TYPE = 'eventType';

/** Which parts are not there. Those that are there say nothing without the others. */
function explainParts({ payloads }: ExpectedEvent, { rows }: Run): Lack['problem'] {
  const there = new Set(rows.map(({ part }) => part));
  const gone = payloads.flatMap(({ part, of }) => (part === undefined || there.has(part) ? [] : [`${part} of ${of}`]));
  return gone.length > 0 ? { problem: 'missing', part: gone.slice(0, 5).join(', ') } : { problem: 'different' };
}

/** Whether another version of capture has told the same values under other names. */
async function isRenamed(
  { answers, held, findings, digester }: Verifier,
  { serviceIds }: Verified,
  lacks: readonly Lack[],
  runs: readonly Run[],
): Promise<boolean> {
  const spare = runs.filter(({ isPaired }) => !isPaired);
  const all: LeafDigest[] = [];
  for (const { leaves } of lacks) all.push(...(leaves ?? []));
  for (const { place, sequence, rows } of spare) {
    all.push(...((await answers.leaves(serviceIds[place] ?? '', sequence, rows.length)) ?? []));
  }
  const texts = lacks.map(({ event }) => joinTexts(event));
  const isNamedOtherwise = lacks.some(({ problem }) => problem.leaves?.[0] !== TYPE);
  if (all.length === 0 || !isNamedOtherwise || !haveSameValues(texts, all, digester)) return false;
  const used = [...spare, ...lacks.flatMap(({ run }) => run ?? [])].flatMap(({ rows }) => rows);
  for (const { id } of used) held.take(id);
  findings.count('events', used.length);
  return true;
}

function tell(
  { findings }: Verifier,
  { session, serviceIds, files }: Verified,
  { file, position }: LackingRecord,
  { eventType }: ExpectedEvent,
  run: Run | undefined,
  problem: Lack['problem'],
): void {
  const serviceSession = run && serviceIds[run.place];
  findings.add({
    ...problem,
    agent: session.agent,
    session: session.agentSession,
    ...(serviceSession !== undefined && { serviceSession }),
    ...(run !== undefined && { sequence: run.sequence }),
    file: files[file]?.path ?? '',
    position,
    eventType,
  });
}
