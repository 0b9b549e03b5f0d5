import { paths } from '../../dashboard/paths.ts';
import { type Account, askAccount } from '../account.ts';
import type { Settings } from '../config.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { hasStatus } from '../upload/problem.ts';
import { createService, NotTheService, type Service } from '../upload/service.ts';

/** What the service answers for itself, and for the secret. */
export interface ServiceAnswer {
  url?: string;
  /** `other`: something answers that is not the service. `unasked`: its address is not known. */
  answer: 'yes' | 'no' | 'other' | 'unasked';
  /** Why it does not. */
  trouble?: string;
  version?: string;
  /** By how many milliseconds this machine's clock is ahead of the service's. */
  aheadMs?: number;
  secret: 'accepted' | 'refused' | 'unasked';
  /** Whose the secret is. */
  account?: Account;
  /** Where browsers find it. */
  dashboard?: string;
}

const TIMEOUT_MS = 5000;

/** Asks for its health, for whose the secret is, and where its dashboard is; registers nothing. */
export async function askService({ fetch, now }: Context, { url, secret }: Partial<Settings>): Promise<ServiceAnswer> {
  if (url === undefined) return { answer: 'unasked', secret: 'unasked' };
  const service = createService({ url, secret: secret ?? '', fetch, timeoutMs: TIMEOUT_MS });
  try {
    const [{ body, headers }, dashboard] = await Promise.all([
      service.client.getHealth({}),
      findDashboard({ fetch }, url),
    ]);
    const told = Date.parse(headers.get('date') ?? '');
    return {
      ...{ url, answer: 'yes', dashboard },
      ...(typeof body.version === 'string' && { version: body.version }),
      ...(!Number.isNaN(told) && { aheadMs: now() - told }),
      ...(secret === undefined ? { secret: 'unasked' } : await askWhose(service)),
    };
  } catch (error) {
    const isOther = error instanceof NotTheService || hasStatus(error, 404);
    return { url, answer: isOther ? 'other' : 'no', trouble: describe(error), secret: 'unasked' };
  }
}

async function askWhose(service: Service): Promise<Pick<ServiceAnswer, 'secret' | 'account'>> {
  try {
    return { secret: 'accepted', account: await askAccount(service) };
  } catch (error) {
    if (hasStatus(error, 401, 403)) return { secret: 'refused' };
    throw error;
  }
}

/**
 * Where browsers find the service. Captures may go to it by another address than people do, such as one inside a network,
 * so it is asked (`PUBLIC_URL`). Without an answer, and where it believes to be on this very machine while it is not, the
 * address that captures go to counts.
 */
export async function findDashboard({ fetch }: Pick<Context, 'fetch'>, url: string): Promise<string> {
  try {
    const { client } = createService({ url, secret: '', fetch, timeoutMs: TIMEOUT_MS });
    const { apiUrl } = (await client.getConfig({})).body;
    return isOpenable(apiUrl) && (isLocal(url) || !isLocal(apiUrl)) ? apiUrl.replace(/\/+$/, '') : url;
  } catch {
    return url;
  }
}

/** The page of a session, by the service's id of it. */
export const sessionPage = (dashboard: string, serviceId: string): string => dashboard + paths.session(serviceId);

/** The service's word is handed to a program: it must not be anything but an address of a page. */
const isOpenable = (url: unknown): url is string =>
  typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Whether an address is one of this very machine. */
export const isLocal = (url: string) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
