import { type Client, createClient, ServiceError } from '../../contract/client.ts';
import type { SharedSession } from '../../contract/share.ts';
import { createApi } from '../app/api.ts';
import { createAuth } from '../app/auth.ts';

/** A share as its reader sees it. */
export interface ReadShare {
  shared: SharedSession;
  /** The timeline as HTML, with all text of the session escaped; absent at the level `figures`. */
  html?: string;
}

/** Opens a share without a sign-in, and signed in if the service requires it. */
export async function readShare(token: string): Promise<ReadShare> {
  const asNobody = createClient({ baseUrl: '' });
  try {
    return await read(asNobody, token);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 401) throw error;
    // A person who has not signed in is sent to the identity provider and returns to this page.
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
