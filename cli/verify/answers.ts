import { randomBytes } from 'node:crypto';
import { type EventDigest, MAX_LEAF_EVENTS, type PayloadDigest } from '../../contract/digest.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { explainRefusal, hasStatus, isTemporary } from '../upload/problem.ts';
import { createRetry } from '../upload/retry.ts';
import type { Service } from '../upload/service.ts';

export interface AnswersOptions {
  service: Service;
  /** How long to ask a service that does not answer. */
  patienceMs: number;
}

export type Answers = ReturnType<typeof createAnswers>;

const PAGE = 1000;

/** What the service says of the events it holds. Failures that may pass are waited for; a rate limit however long. */
export function createAnswers(context: Context, { service, patienceMs }: AnswersOptions) {
  const { listEventDigests, listLeafDigests } = service.client;
  const nonce = randomBytes(24).toString('base64url');
  const giveUp = new AbortController();
  const signal = AbortSignal.any([context.stop, giveUp.signal]);
  const retry = createRetry({
    random: context.random,
    signal,
    onTrouble: () => retry.failingMs() >= patienceMs && giveUp.abort(),
  });

  async function ask<Answer>(request: () => Promise<{ body: Answer }>): Promise<Answer> {
    try {
      return (await retry.attempt(request)).body;
    } catch (error) {
      if (giveUp.signal.aborted || isTemporary(error)) throw unreachable(service.url, retry.lastTrouble());
      throw error;
    }
  }

  /** Of the errors that say "not there", whether it is the route that is not there. */
  async function isOlder(): Promise<boolean> {
    try {
      await ask(() => listEventDigests({ sessionId: 'ses_none', query: { nonce: '' } }));
    } catch (error) {
      // It refuses the query before it looks for the session.
      return !hasStatus(error, 400);
    }
    return false;
  }

  return {
    /** Different in every run: the service cannot have kept the answers. */
    nonce,
    /** The events of a session, in order; undefined where the service does not have it. */
    async digests(sessionId: string, onPage: (page: EventDigest[]) => void): Promise<'read' | 'unknown'> {
      for (let from: number | null = 1; from !== null; ) {
        const query = { nonce, from: String(from), limit: String(PAGE) };
        try {
          const page: { digests: EventDigest[]; nextFrom: number | null } = await ask(() =>
            listEventDigests({ sessionId, query }),
          );
          onPage(page.digests);
          from = page.nextFrom;
        } catch (error) {
          if (!hasStatus(error, 404, 405)) throw explainRefusal(error);
          if (await isOlder()) throw tooOld(service.url);
          return 'unknown';
        }
      }
      return 'read';
    },
    /** The leaves of a payload; undefined where they cannot be told, as of one in very many parts. */
    async leaves(sessionId: string, sequence: number, events: number): Promise<PayloadDigest['leaves'] | undefined> {
      if (events > MAX_LEAF_EVENTS) return undefined;
      const query = { nonce, from: String(sequence), limit: String(events) };
      const { payloads } = await ask(() => listLeafDigests({ sessionId, query }));
      const [payload] = payloads;
      return payload?.events === events ? payload.leaves : undefined;
    },
  };
}

/** Not to be told from a service that holds nothing: nothing is said then. */
const unreachable = (url: string, trouble: string | undefined): Failure =>
  new Failure(
    EXIT.temporary,
    `The service at ${url} cannot be reached${trouble === undefined ? '' : `: ${trouble}`}.`,
    'Nothing can be said about what it holds. Try again when it is reachable.',
  );

const tooOld = (url: string) =>
  new Failure(
    EXIT.failure,
    `The service at ${url} is too old to answer for what it holds.`,
    'Ask for it to be updated.',
  );
