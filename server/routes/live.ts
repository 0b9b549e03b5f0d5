import { Readable } from 'node:stream';
import type { LiveChange } from '../../contract/extensions.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';

/** A comment line now and then keeps proxies from closing a quiet stream. */
const HEARTBEAT_MS = 15_000;

export const liveHandlers = ({ live }: Deps) =>
  ({
    async streamChanges({ caller, query, signal }) {
      const stream = new Readable({ read() {} });
      const send = (change: LiveChange) => {
        if (query.sessionId !== undefined && change.sessionId !== query.sessionId) return;
        stream.push(`data: ${JSON.stringify(change)}\n\n`);
      };
      const unsubscribe = live.subscribe(caller.organizationId, send);
      const heartbeat = setInterval(() => stream.push(': still here\n\n'), HEARTBEAT_MS);
      const end = () => {
        clearInterval(heartbeat);
        unsubscribe();
        live.closing.removeEventListener('abort', end);
        stream.push(null);
      };
      signal.addEventListener('abort', end, { once: true });
      live.closing.addEventListener('abort', end, { once: true });
      if (live.closing.aborted) end();
      else stream.push(': connected\n\n');
      return { status: 200, body: stream, headers: { 'x-accel-buffering': 'no' } };
    },
  }) satisfies Partial<Handlers>;
