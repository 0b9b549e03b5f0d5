import { paths } from '../dashboard/app/paths.ts';
import type { Context } from './context.ts';
import { createService } from './upload/service.ts';

const TIMEOUT_MS = 5000;

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
