import { MAX_SESSIONS_AT_ONCE } from '../../contract/capture.ts';
import { formatCount } from '../../contract/count.ts';
import { MAX_DIGESTS_AT_ONCE } from '../../contract/digest.ts';
import { readKey } from '../../redact/key.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { findGaps, reportGaps } from '../inspect/gaps.ts';
import { inspectTranscripts } from '../inspect/transcripts.ts';
import type { Output } from '../output.ts';
import { openPipeline, openPolicy, openRedactor } from '../pipeline.ts';
import { createProgress, type Progress } from '../progress.ts';
import { createRecordHash } from '../read/identity.ts';
import { MovedTranscripts } from '../read/known-files.ts';
import { createMask } from '../read/mask.ts';
import { chooseSessions, requireAgents, type SessionFilter } from '../sessions/choose.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import { readKnownEvents } from '../upload/known-events.ts';
import { explainRefusal, isTemporary, tellTrouble } from '../upload/problem.ts';
import { createRetry, type Retry } from '../upload/retry.ts';
import { createService, type Service } from '../upload/service.ts';
import { createFindings, type Findings, toComparison } from './report.ts';
import { SessionVerification, type Verifier } from './session.ts';

export interface VerifyOptions extends SessionFilter {
  /** Whether to keep the result for the service. */
  all: boolean;
  /** How long to ask a service that does not answer. */
  patienceMs: number;
}

/** Reads the transcripts of captured sessions again and compares them with the service. */
export async function verify(context: Context, options: VerifyOptions, output: Output): Promise<Findings> {
  // Lets live capture use the processor first.
  context.lowerPriority();
  const pipeline = await openPipeline(context);
  const { settings, spool } = pipeline;
  const service = createService({ ...settings, fetch: context.fetch });
  const findings = createFindings();
  const progress = createProgress(output.progress, context.now);
  const policy = openPolicy(context, spool);
  policy.refresh();
  try {
    const ask = createAsking(context, service, options.patienceMs);
    const queue = new VerifyQueue(chooseSessions(context, spool, options));
    const verifier: Verifier = {
      ...{ context, spool, policy, findings, warn: output.warn },
      mask: createMask(openRedactor(context, pipeline)),
      hashRecord: createRecordHash(readKey(pipeline.folder)),
      moved: new MovedTranscripts(context),
      // A session that owns records of a chosen one is verified too.
      onOwner: (id) => queue.add(spool.sessions.get(id)),
    };
    for (let sessions = queue.next(); sessions.length > 0 && !context.stop.aborted; sessions = queue.next()) {
      const verifications = sessions.map((session) => new SessionVerification(verifier, session));
      await readKnownEvents(
        service,
        ask,
        verifications.flatMap((one) => one.asked()),
      );
      for (const verification of verifications) {
        if (context.stop.aborted) break;
        await verification.compare();
        showProgress(progress, findings, queue.total);
      }
    }
    if (options.sessions.length === 0) countNew(context, spool, options, findings);
    if (options.all && !context.stop.aborted) {
      spool.transact(() => spool.setComparison(toComparison(findings, context.now())));
    }
  } finally {
    progress.clear();
    spool.close();
  }
  return findings;
}

/** Sessions to be verified, each once, in groups whose digests fit into one answer. */
class VerifyQueue {
  readonly #met = new Set<number>();
  readonly #waiting: SessionRow[] = [];

  constructor(sessions: readonly SessionRow[]) {
    for (const session of sessions) this.add(session);
  }

  get total(): number {
    return this.#met.size;
  }

  add(session: SessionRow): void {
    if (this.#met.has(session.id)) return;
    this.#met.add(session.id);
    this.#waiting.push(session);
  }

  /** The next group, with at least one session. Empty at the end. The group's digests are kept in memory. */
  next(): SessionRow[] {
    let events = 0;
    const isRoom = ({ sent }: SessionRow, index: number) => {
      events += sent;
      return index === 0 || (index < MAX_SESSIONS_AT_ONCE && events <= MAX_DIGESTS_AT_ONCE);
    };
    const most = this.#waiting.slice(0, MAX_SESSIONS_AT_ONCE);
    const end = most.findIndex((session, index) => !isRoom(session, index));
    return this.#waiting.splice(0, end === -1 ? most.length : end);
  }
}

function showProgress(progress: Progress, { counts: { sessions, records } }: Findings, total: number): void {
  const text = `${sessions.toLocaleString('en-US')} of ${formatCount(total, 'session')}, ${formatCount(records, 'record')}`;
  progress.show({ done: sessions, total, text });
}

/** Retries temporary failures for a limited time, but waits for a rate limit as long as it takes. */
function createAsking(context: Context, { url }: Service, patienceMs: number): Retry['attempt'] {
  const giveUp = new AbortController();
  const retry = createRetry({
    random: context.random,
    signal: AbortSignal.any([context.stop, giveUp.signal]),
    onTrouble: () => retry.failingMs() >= patienceMs && giveUp.abort(),
  });
  return async (request) => {
    let trouble: unknown;
    try {
      return await retry.attempt(() =>
        request().catch((error: unknown) => {
          trouble = error;
          throw error;
        }),
      );
    } catch (error) {
      if (!giveUp.signal.aborted && !isTemporary(error)) throw explainRefusal(error);
      const hint = 'The events could not be compared. Try again later.';
      throw new Failure(EXIT.temporary, `${tellTrouble(url, trouble ?? error)}.`, hint);
    }
  };
}

/** Counts transcripts without any captured record, and what no reader reads or knows. */
function countNew(context: Context, spool: Spool, { agent: only }: SessionFilter, findings: Findings): void {
  const wanted = { ...context, agents: requireAgents(context, only) };
  const { agents } = inspectTranscripts(wanted, spool, true);
  for (const { untouched } of agents) findings.count('newFiles', untouched);
  const all = findGaps(context, spool, agents, true).filter(({ agent }) => only === undefined || agent === only);
  // Lines that are too long were counted where they are.
  findings.gaps.push(...reportGaps(all.filter(({ kind }) => kind !== 'line')));
}
