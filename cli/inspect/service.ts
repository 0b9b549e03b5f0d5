import { ServiceError } from '../../contract/client.ts';
import { type Account, askAccount } from '../account.ts';
import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { findDashboard } from '../dashboard.ts';
import { describe } from '../failure.ts';
import { hasStatus } from '../upload/problem.ts';
import { aheadOf, createService, NotTheService, type Service } from '../upload/service.ts';

/** The service's answers about itself and about the secret. */
export interface ServiceAnswer {
  url?: string;
  /**
   * `error`: it was reached but cannot serve now. `other`: something other than the service answers. `unasked`: its address
   * is unknown.
   */
  answer: 'yes' | 'no' | 'error' | 'other' | 'unasked';
  /** Why it does not answer. */
  trouble?: string;
  version?: string;
  /** How many milliseconds this machine's clock is ahead of the service's. */
  aheadMs?: number;
  secret: 'accepted' | 'refused' | 'unasked';
  /** The account of the secret. */
  account?: Account;
  /** The dashboard's address for browsers. */
  dashboard?: string;
}

const TIMEOUT_MS = 5000;

/** Asks the service for its health, the secret's account and the dashboard's address. Registers nothing. */
export async function askService({ fetch, now }: Context, { url, secret }: Partial<Settings>): Promise<ServiceAnswer> {
  if (url === undefined) return { answer: 'unasked', secret: 'unasked' };
  const service = createService({ url, secret: secret ?? '', fetch, timeoutMs: TIMEOUT_MS });
  try {
    const [{ body, headers }, dashboard] = await Promise.all([
      service.client.getHealth({}),
      findDashboard({ fetch }, url),
    ]);
    const aheadMs = aheadOf(headers, now());
    return {
      ...{ url, answer: 'yes', dashboard },
      ...(typeof body.version === 'string' && { version: body.version }),
      ...(aheadMs !== undefined && { aheadMs }),
      ...(secret === undefined ? { secret: 'unasked' } : await askWhose(service)),
    };
  } catch (error) {
    return { url, answer: answerOf(error), trouble: describe(error), secret: 'unasked' };
  }
}

function answerOf(error: unknown): ServiceAnswer['answer'] {
  if (error instanceof NotTheService || hasStatus(error, 404)) return 'other';
  return error instanceof ServiceError ? 'error' : 'no';
}

async function askWhose(service: Service): Promise<Pick<ServiceAnswer, 'secret' | 'account'>> {
  try {
    return { secret: 'accepted', account: await askAccount(service) };
  } catch (error) {
    if (hasStatus(error, 401, 403)) return { secret: 'refused' };
    throw error;
  }
}
