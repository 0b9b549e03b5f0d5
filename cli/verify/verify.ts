import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { inspectTranscripts } from '../inspect/transcripts.ts';
import { formatCount, type Output } from '../output.ts';
import { openPipeline, openPolicy, openRedactor } from '../pipeline.ts';
import { createProgress } from '../progress.ts';
import { createIdentify } from '../read/identity.ts';
import { createMask } from '../read/mask.ts';
import { readKey } from '../redact/key.ts';
import { type Choice, chooseSessions, requireAgents } from '../sessions/choose.ts';
import type { Spool } from '../spool/open.ts';
import { readHeld } from '../upload/held.ts';
import { explainRefusal, hasStatus, isTemporary } from '../upload/problem.ts';
import { createRetry, type Retry } from '../upload/retry.ts';
import { createService, type Service } from '../upload/service.ts';
import { createFindings, type Findings } from './report.ts';
import { type Verifier, verifySession } from './session.ts';

export interface VerifyOptions extends Choice {
  /** How long to ask a service that does not answer. */
  patienceMs: number;
}

/** Reads the transcripts of captured sessions once more, and lays them beside what the service holds. */
export async function verify(context: Context, options: VerifyOptions, output: Output): Promise<Findings> {
  const pipeline = await openPipeline(context);
  const { settings, spool } = pipeline;
  const service = createService({ ...settings, fetch: context.fetch });
  const findings = createFindings();
  const progress = createProgress(output.progress, context.now);
  const policy = openPolicy(context, spool);
  policy.refresh();
  try {
    // Sessions that records of the chosen ones turn out to be in are added on the way.
    const queue = new Set(chooseSessions(context, spool, options).map(({ id }) => id));
    const ask = createAsking(context, service, options.patienceMs);
    const verifier: Verifier = {
      ...{ context, spool, policy, findings, warn: output.warn },
      mask: createMask(openRedactor(context, pipeline)),
      identify: createIdentify(readKey(pipeline.folder)),
      addHeld: (held, place, sessionId) => readHeld(service, ask, { sessionId, place, held }),
      onOwner: (id) => void queue.add(id),
    };
    for (const id of queue) {
      if (context.stop.aborted) break;
      await verifySession(verifier, spool.sessions.get(id));
      const { sessions, records } = findings.counts;
      const total = queue.size;
      const text = `${sessions.toLocaleString('en-US')} of ${formatCount(total, 'session')}, ${formatCount(records, 'record')}`;
      progress.show({ done: sessions, total, text });
    }
    if (options.sessions.length === 0) countNew(context, spool, options, findings);
  } finally {
    progress.clear();
    spool.close();
  }
  return findings;
}

/** Failures that may pass are waited for; a rate limit however long. */
function createAsking(context: Context, { url }: Service, patienceMs: number): Retry['attempt'] {
  const giveUp = new AbortController();
  const retry = createRetry({
    random: context.random,
    signal: AbortSignal.any([context.stop, giveUp.signal]),
    onTrouble: () => retry.failingMs() >= patienceMs && giveUp.abort(),
  });
  return async (request) => {
    try {
      return await retry.attempt(request);
    } catch (error) {
      if (!giveUp.signal.aborted && !isTemporary(error)) throw hasStatus(error, 404) ? error : explainRefusal(error);
      const trouble = retry.lastTrouble();
      const sentence = `The service at ${url} cannot be reached${trouble === undefined ? '' : `: ${trouble}`}.`;
      const hint = 'Nothing can be said about what it holds. Try again when it is reachable.';
      throw new Failure(EXIT.temporary, sentence, hint);
    }
  };
}

/** Transcripts that nothing was captured of yet. */
function countNew(context: Context, spool: Spool, { agent }: Choice, findings: Findings): void {
  const agents = requireAgents(context, agent);
  for (const { untouched } of inspectTranscripts({ ...context, agents }, spool, true)) {
    findings.count('newFiles', untouched);
  }
}
