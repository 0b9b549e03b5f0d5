import type { Agent } from '../agents/agent.ts';
import { claudeCode } from '../agents/claude-code/claude-code.ts';
import type { Place, Trouble } from '../read/discover.ts';
import { createRecordHash } from '../read/identity.ts';
import { createReader, type ReaderOptions, type Work } from '../read/reader.ts';
import { openSpool, type Spool } from '../spool/open.ts';
import { readEvents } from '../upload/refusals.ts';

type Event = { eventType: string; payload: Record<string, unknown> };

/** A reader without masking and without sending. */
export function openReading(
  root: string,
  spoolPath = ':memory:',
  {
    agent = claudeCode,
    also = [],
    places = [{ agent, root, below: '' }, ...also.map((below) => ({ agent, root, below }))],
    ...more
  }: Partial<ReaderOptions> & { agent?: Agent; also?: string[]; places?: Place[] } = {},
) {
  const spool = openSpool(spoolPath);
  const troubles: Trouble[] = [];
  let keys = 0;
  const commits: number[] = [];
  const reader = createReader({
    spool,
    redactor: { redact: (events) => [...events] },
    hashRecord: createRecordHash(new Uint8Array(32)),
    now: Date.now,
    newKey: () => `key-${++keys}`,
    patienceMs: 0,
    onTrouble: (trouble) => troubles.push(trouble),
    ...more,
  });
  return {
    spool,
    troubles,
    commits,
    /** Reads new records. */
    read: () =>
      reader.read(reader.findWork(places), {
        isStopped: () => false,
        onCommit: async (bytes) => void commits.push(bytes),
      }),
    findWork: () => reader.findWork(places),
    /** Reads work found before; false if it could not read all of it. */
    readWork: (work: Work) => reader.read(work, { isStopped: () => false, onCommit: async () => {} }),
  };
}

/** The spooled events in order, by agent session. */
export function spooledEvents(spool: Spool): Map<string, Event[]> {
  const events = new Map<string, Event[]>();
  for (const session of spool.batches.perSession().map((one) => one.session)) {
    const { agentSession } = spool.sessions.get(session);
    const list: Event[] = [];
    for (const batch of spool.batches.ofSession(session)) {
      list.push(...readEvents(batch).map((event) => JSON.parse(event) as Event));
    }
    events.set(agentSession, list);
  }
  return events;
}

/** A short text for each event of a session. */
export const textsOf = (spool: Spool, session: string): string[] =>
  (spooledEvents(spool).get(session) ?? []).map(({ eventType, payload }) =>
    String(payload.text ?? payload.raw ?? payload.kind ?? eventType),
  );
