import { DatabaseSync } from 'node:sqlite';
import { createDigester } from '../../contract/digester.ts';
import type { Agent } from '../agents/agent.ts';
import type { Context } from '../context.ts';
import type { Output } from '../output.ts';
import { openPipeline, openReader, openRedactor } from '../pipeline.ts';
import { createPolicy } from '../privacy/policy.ts';
import { createIdentify } from '../read/identity.ts';
import { ownPlaces } from '../read/places.ts';
import { readKey } from '../redact/key.ts';
import { type Choice, chooseSessions } from '../sessions/choose.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { createService } from '../upload/service.ts';
import { createAnswers } from './answers.ts';
import { resolveElsewhere } from './elsewhere.ts';
import { createFindings, type Findings } from './findings.ts';
import { createHeld } from './held.ts';
import { createNotes } from './notes.ts';
import { createProgress } from './progress.ts';
import { type Verifier, verifySession } from './session.ts';

export interface VerifyOptions extends Choice {
  patienceMs: number;
}

/** Reads the transcripts of captured sessions once more, and lays them beside what the service holds. */
export async function verify(context: Context, options: VerifyOptions, output: Output): Promise<Findings> {
  const pipeline = await openPipeline(context);
  const { settings, spool } = pipeline;
  const service = createService({ ...settings, fetch: context.fetch });
  const db = openTemporary();
  const findings = createFindings();
  const progress = createProgress(output.progress, context.now);
  try {
    const queue = createQueue(spool, chooseSessions(context, spool, options));
    const answers = createAnswers(context, { service, patienceMs: options.patienceMs });
    const verifier: Verifier = {
      ...{ spool, answers, findings },
      redactor: openRedactor(context, pipeline),
      identify: createIdentify(readKey(pipeline.folder)),
      digester: createDigester(answers.nonce),
      held: createHeld(db),
      notes: createNotes(db),
      agentOf: (row) => findAgent(context, row),
      objection: createObjection(context),
      onTrouble: ({ path, reason }) => output.warn(`${path} cannot be read: ${reason}`),
      onOwner: queue.add,
      now: context.now,
      isStopped: () => context.stop.aborted,
    };
    db.exec('BEGIN');
    for (let session = queue.next(); session && !context.stop.aborted; session = queue.next()) {
      await verifySession(verifier, session);
      progress.show(findings.counts, queue.length());
    }
    await resolveElsewhere(verifier);
    if (options.sessions.length === 0) countNew(context, pipeline, options, findings);
  } finally {
    progress.clear();
    db.close();
    spool.close();
  }
  return findings;
}

/** The sessions to verify: those chosen, and those that records of them turn out to be in. */
function createQueue(spool: Spool, chosen: readonly SessionRow[]) {
  const known = new Set(chosen.map(({ id }) => id));
  const waiting = [...chosen];
  let at = 0;
  return {
    length: () => waiting.length,
    next: () => waiting[at++],
    add(id: number): void {
      if (known.has(id)) return;
      known.add(id);
      waiting.push(spool.sessions.get(id));
    },
  };
}

/**
 * A database whose file has no name and goes with the process: memory holds 16 MB of it. Nothing in it is ever committed,
 * which takes half of the time away.
 */
function openTemporary(): DatabaseSync {
  const db = new DatabaseSync('');
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384');
  return db;
}

/** An agent's program and its extension of an editor share an id, and keep their transcripts in different places. */
function findAgent({ agents, variables, home }: Context, { agent: id, root, path }: FileRow): Agent | undefined {
  const candidates = agents.filter((agent) => agent.id === id);
  return (
    candidates.find((agent) => agent.roots(variables, home).includes(root)) ??
    candidates.find((agent) => agent.isTranscript(path)) ??
    candidates[0]
  );
}

function createObjection(context: Context): Verifier['objection'] {
  const policy = createPolicy(context);
  policy.refresh();
  return ({ agent }, { origin }) => policy.objection(agent, origin);
}

/** Transcripts that nothing was captured of yet. */
function countNew(
  context: Context,
  pipeline: Parameters<typeof openReader>[1],
  { agent }: Choice,
  findings: Findings,
): void {
  const agents = context.agents.filter(({ id }) => agent === undefined || id === agent);
  const reader = openReader(context, pipeline, { patienceMs: 0, onTrouble: () => {} });
  const { sessions } = reader.findWork(ownPlaces({ ...context, agents }));
  findings.count('newFiles', sessions.flat().filter(({ id }) => id === undefined).length);
}
