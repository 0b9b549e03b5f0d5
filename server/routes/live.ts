import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';

export const liveHandlers = ({ live }: Deps) =>
  ({
    async streamChanges({ caller, query, signal }) {
      const { organizationId, userId, claims } = caller;
      const until = claims.expiresAt ?? Number.POSITIVE_INFINITY;
      const body = live.watch({ organizationId, userId, sessionId: query.sessionId, signal, until });
      return { status: 200, body, headers: { 'x-accel-buffering': 'no' } };
    },
  }) satisfies Partial<Handlers>;
