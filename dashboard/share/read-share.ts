import { type Client, createClient, ServiceError } from '../../contract/client.ts';
import type { SharedSession } from '../../contract/share.ts';
import { createApi } from '../app/api.ts';
import { createAuth } from '../app/auth.ts';

/** A share as its reader sees it. */
export interface ReadShare {
  shared: SharedSession;
  /** What was said and done, as HTML in which everything of the session is escaped; absent in figures. */
  html?: string;
}

/** Opens a share: as nobody, and as the signed-in person where it asks for one. */
export async function readShare(token: string): Promise<ReadShare> {
  const asNobody = createClient({ baseUrl: '' });
  try {
    return await read(asNobody, token);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    // Who has not signed in is sent to do so, and comes back.
    return read(createApi(await createAuth()), token);
  }
}

async function read(api: Client, token: string): Promise<ReadShare> {
  const shared = (await api.getShare({ token })).body;
  if (shared.level === 'figures') return { shared };
  const [{ eachOf, readWholeTimeline }, { toHtmlElements }] = await Promise.all([
    import('../session/download.ts'),
    import('../session/model/html.ts'),
  ]);
  const timeline = await readWholeTimeline(eachOf((query) => api.listSharedEvents({ token, query })));
  return { shared, html: toHtmlElements(timeline) };
}
