import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { viewerNow, viewerOf } from '../store/viewer.ts';

export const liveHandlers = ({ changes: { live }, store: { db } }: Deps) =>
  ({
    async streamChanges({ caller, query, signal }) {
      const { organizationId, userId, claims } = caller;
      const viewer = await viewerOf(db, caller);
      const until = claims.expiresAt ?? Number.POSITIVE_INFINITY;
      const body = live.watch({ ...viewer, userId, sessionId: query.sessionId, signal, until });
      // Since the request was authenticated, the person may have been removed, or may see less.
      const viewerThen = await viewerNow(db, viewer);
      if (viewerThen?.seesAll !== viewer.seesAll) live.end(organizationId, userId);
      return { status: 200, body, headers: { 'x-accel-buffering': 'no' } };
    },
  }) satisfies Partial<Handlers>;
