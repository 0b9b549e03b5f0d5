import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { KEEP_ALIVE_MS } from './postgres.ts';

/** Messages between the processes on one PostgreSQL. A process that is not listening misses them. */
export interface Notices {
  /**
   * Sends to all processes, including this one.
   * @param texts each of at most `MAX_NOTICE` bytes
   */
  tell(texts: readonly string[]): Promise<void>;
  /** Listens until the signal is aborted, and reconnects when necessary. */
  listen(listener: Listener, signal: AbortSignal): Promise<void>;
}

export interface Listener {
  onNotice: (text: string) => void;
  /** Called when listening starts or starts again. Messages in between were missed. */
  onListening: () => void;
  /** Called when the connection is lost or refused. It is retried. */
  onError: (error: Error) => void;
}

/** PostgreSQL accepts payloads of less than 8,000 bytes. */
export const MAX_NOTICE = 7_999;

const CHANNEL = 'session_capture';
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** @param url the address for the listening connection; through a pooler in transaction mode it would receive nothing */
export function createNotices(pool: pg.Pool, url: string): Notices {
  async function listenOnce({ onNotice, onListening, onError }: Listener, signal: AbortSignal): Promise<void> {
    const client = new pg.Client({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: 5_000,
    });
    const lost = new Promise<void>((resolve) => {
      client.on('error', (error) => {
        onError(error);
        resolve();
      });
      client.on('end', resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    client.on('notification', ({ payload }) => onNotice(payload ?? ''));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      onListening();
      await lost;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  return {
    async tell(texts) {
      await pool.query('select pg_notify($1, text) from unnest($2::text[]) as text', [CHANNEL, texts]);
    },

    async listen(listener, signal) {
      for (let wait = FIRST_PAUSE_MS; !signal.aborted; wait = Math.min(wait * 2, MAX_PAUSE_MS)) {
        const heard = () => {
          wait = FIRST_PAUSE_MS;
          listener.onListening();
        };
        await listenOnce({ ...listener, onListening: heard }, signal).catch(listener.onError);
        await pause(wait, undefined, { signal }).catch(() => undefined);
      }
    },
  };
}
