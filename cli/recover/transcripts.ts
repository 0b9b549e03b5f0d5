import type { SessionEvent } from '../../contract/event.ts';
import { isPart, type Part } from '../../transcript/parts.ts';
import type { CapturedEvent, Source } from '../../transcript/vocabulary.ts';
import type { Agent, Origin } from '../agents/agent.ts';
import { isObject } from '../agents/shared/part.ts';
import { parseExact } from '../exact.ts';
import { createRestoring } from './record.ts';

/** A transcript made of its events again. */
export interface RestoredTranscript {
  /** Its path below the agent's root, as the events name it. It is never used as a path of this machine. */
  path: string;
  /** Its records, in the order in which they were captured. */
  lines: Buffer[];
  /** The sub-agent that wrote it. */
  subagent?: string | undefined;
  /** How many records the parser would read in another way than they were captured. */
  inexact: number;
  /** How many were never captured completely, for instance because they were too long. */
  incomplete: number;
}

/** Makes the transcripts of a session of all its events, in their order. The events may come from anybody, so all is checked. */
export function restoreTranscripts(agent: Agent, events: Iterable<Pick<SessionEvent, 'eventType' | 'payload'>>) {
  const restore = createRestoring(agent);
  const transcripts = new Map<string, RestoredTranscript>();
  /** The records that each transcript has, because an event may be there twice. */
  const known = new Set<string>();
  let open: CapturedEvent[] = [];

  function close(): void {
    const [first] = open;
    if (first === undefined) return;
    const { source } = first.payload;
    const transcript = transcripts.get(source.file) ?? {
      path: source.file,
      subagent: source.subagent,
      lines: [],
      inexact: 0,
      incomplete: 0,
    };
    transcripts.set(source.file, transcript);
    const line = toLine(open, source, transcript);
    open = [];
    if (line === undefined) return;
    const key = `${source.file} ${source.position} ${line.toString('latin1')}`;
    if (!known.has(key)) transcript.lines.push(line);
    known.add(key);
  }

  function toLine(record: CapturedEvent[], source: Source, transcript: RestoredTranscript): Buffer | undefined {
    const [first] = record;
    if (first?.eventType === 'unreadable') return bytesOf(first.payload, transcript);
    const restored = restore(record, { origin: originOf(agent, source), file: source.file, position: source.position });
    if (!restored.isExact) transcript.inexact++;
    return Buffer.from(JSON.stringify(restored.record));
  }

  for (const event of joined(events)) {
    if (event.payload.source.agent !== agent.id) continue;
    if (!continuesRecord(open.at(-1)?.payload.source, event.payload.source)) close();
    open.push(event);
  }
  close();
  return [...transcripts.values()];
}

function bytesOf({ raw, encoding }: { raw: string; encoding: 'utf8' | 'base64' }, transcript: RestoredTranscript) {
  // Of a line that was too long, its length alone was captured.
  if (raw === '') {
    transcript.incomplete++;
    return undefined;
  }
  return Buffer.from(raw, encoding);
}

const originOf = ({ restored }: Agent, { session, subagent, agentVersion }: Source): Origin => ({
  session,
  ...(subagent !== undefined && !restored?.namesSubagent && { subagent }),
  ...(agentVersion !== undefined && { agentVersion }),
});

/** The events of a record follow each other, with growing indexes. */
const continuesRecord = (before: Source | undefined, next: Source): boolean =>
  before !== undefined &&
  before.file === next.file &&
  before.position === next.position &&
  before.index !== undefined &&
  next.index === before.index + 1;

/** The captured events, with payloads in parts joined. Events of other clients are left out. */
function* joined(events: Iterable<Pick<SessionEvent, 'eventType' | 'payload'>>): Generator<CapturedEvent> {
  let parts: Part[] = [];
  for (const { eventType, payload } of events) {
    if (!isPart(payload)) {
      if (isCaptured(payload)) yield { eventType, payload } as CapturedEvent;
      continue;
    }
    parts = payload.part === 1 ? [payload] : [...parts, payload];
    if (payload.part < payload.of) continue;
    const whole = parts.length === payload.of ? parseExact(parts.map(({ json }) => json).join('')) : undefined;
    parts = [];
    if (isCaptured(whole)) yield { eventType, payload: whole } as CapturedEvent;
  }
}

function isCaptured(payload: unknown): boolean {
  if (!isObject(payload) || !isObject(payload.source)) return false;
  const { agent, session, file, position } = payload.source;
  return [agent, session, file].every((text) => typeof text === 'string') && Number.isInteger(position);
}
