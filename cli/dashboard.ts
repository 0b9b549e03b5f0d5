import { paths } from '../contract/pages.ts';
import type { Context } from './context.ts';
import { createService } from './upload/service.ts';

const TIMEOUT_MS = 5000;

/**
 * The dashboard's address for browsers. Captures may use another address than people do, for instance one inside a network,
 * so the service is asked (`PUBLIC_URL`). The captures' address is used in two cases: the service does not answer, or it
 * names this machine although it runs elsewhere.
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

/** The page of a session, by the service's id. */
export const sessionPage = (dashboard: string, serviceId: string): string => dashboard + paths.session(serviceId);

/** The address from the service is passed to a program, so it must be nothing but the address of a page. */
const isOpenable = (url: unknown): url is string =>
  typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);

/** Whether an address points to this very machine. */
export const isLocal = (url: string) => /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname);
