import {
  CompiledQuery,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { AtOnceConnection } from '../rows.ts';
import type { ConnectionThread } from './connection-thread.ts';
import type { Statement } from './jobs.ts';
import type { Readers } from './readers.ts';

/** The threads of an open file. */
export interface Threads {
  reader: Pick<Readers, 'run'>;
  writer: Pick<ConnectionThread, 'run' | 'lag'>;
  /** Reserves the writer until the returned function is called. */
  reserveWriter(): Promise<() => void>;
  close(): Promise<void>;
}

/** The Kysely dialect for the threads. A read goes to a free reader, everything else to the writer. */
export const sqliteDialect = (threads: Threads): Dialect => ({
  createAdapter: () => new ThreadsAdapter(),
  createDriver: () => createDriver(threads),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
});

class ThreadsAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true;
  }

  override get supportsTransactionalDdl() {
    return true;
  }
}

interface Connection extends AtOnceConnection {
  /** Set while the connection is in a transaction. */
  release?: (() => void) | undefined;
}

function createDriver({ reader, writer, reserveWriter, close }: Threads): Driver {
  async function run(thread: Pick<Readers, 'run'>, query: CompiledQuery): Promise<QueryResult<never>> {
    const { rows, changes } = await thread.run({ kind: 'query', ...toStatement(query) });
    return {
      rows: rows as never[],
      ...(changes === undefined ? {} : { numAffectedRows: BigInt(changes) }),
    };
  }

  async function runHeld(query: CompiledQuery): Promise<QueryResult<never>> {
    const release = await reserveWriter();
    try {
      return await run(writer, query);
    } finally {
      release();
    }
  }

  function letGo(connection: Connection): void {
    connection.release?.();
    connection.release = undefined;
  }

  return {
    init: async () => undefined,
    async acquireConnection() {
      const connection: Connection = {
        executeQuery(query: CompiledQuery) {
          if (connection.release) return run(writer, query);
          return isRead(query) ? run(reader, query) : runHeld(query);
        },
        async runAtOnce(statements) {
          const release = await reserveWriter();
          const done = writer.run({ kind: 'derived', statements: statements.map(toStatement) });
          // The thread runs its jobs in order, so the next holder need not wait for the reply.
          release();
          return done;
        },
        streamQuery() {
          throw new Error('rows are read in pages');
        },
      };
      return connection;
    },
    async beginTransaction(connection: Connection) {
      const release = await reserveWriter();
      try {
        await run(writer, CompiledQuery.raw('begin immediate'));
      } catch (error) {
        release();
        throw error;
      }
      connection.release = release;
    },
    // Kysely rolls back after a failed commit, which releases the writer.
    async commitTransaction(connection: Connection) {
      await run(writer, CompiledQuery.raw('commit'));
      letGo(connection);
    },
    async rollbackTransaction(connection: Connection) {
      await run(writer, CompiledQuery.raw('rollback')).finally(() => letGo(connection));
    },
    releaseConnection: async () => undefined,
    destroy: close,
  };
}

const toStatement = ({ sql, parameters }: CompiledQuery): Statement => ({ sql, parameters });

const isRead = ({ query, sql }: CompiledQuery) => query.kind === 'SelectQueryNode' || /^\s*select\b/i.test(sql);
