import { type Account, askAccount } from '../account.ts';
import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { hasStatus } from '../upload/problem.ts';
import { createService, NotTheService, type Service } from '../upload/service.ts';

export interface ServiceFacts {
  /** `other`: something answers that is not the service. `unasked`: its address is not known. */
  answer: 'yes' | 'no' | 'other' | 'unasked';
  /** Why it does not. */
  trouble?: string;
  version?: string;
  /** By how much this machine's clock is ahead of the service's. */
  aheadMs?: number;
  secret: 'accepted' | 'refused' | 'unasked';
  account?: Account;
}

const TIMEOUT_MS = 5000;

/** Asks the service for its health and for whose the secret is; registers nothing, and writes nothing down. */
export async function probeService({ fetch, now }: Context, settings: Partial<Settings>): Promise<ServiceFacts> {
  const { url, secret } = settings;
  if (url === undefined) return { answer: 'unasked', secret: 'unasked' };
  const service = createService({ url, secret: secret ?? '', fetch, timeoutMs: TIMEOUT_MS });
  try {
    const { body, headers } = await service.client.getHealth({});
    const told = Date.parse(headers.get('date') ?? '');
    const reached = {
      answer: 'yes' as const,
      ...(typeof body.version === 'string' && { version: body.version }),
      ...(!Number.isNaN(told) && { aheadMs: now() - told }),
    };
    return { ...reached, ...(secret === undefined ? { secret: 'unasked' } : await askWhose(service, secret)) };
  } catch (error) {
    const isOther = error instanceof NotTheService || hasStatus(error, 404);
    return { answer: isOther ? 'other' : 'no', trouble: describe(error), secret: 'unasked' };
  }
}

async function askWhose(service: Service, secret: string): Promise<Pick<ServiceFacts, 'secret' | 'account'>> {
  try {
    return { secret: 'accepted', account: await askAccount(service, secret) };
  } catch (error) {
    if (hasStatus(error, 401, 403)) return { secret: 'refused' };
    throw error;
  }
}
