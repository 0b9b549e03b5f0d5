const MENDS: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there: start PostgreSQL, or correct DATABASE_URL',
  ENOTFOUND: 'no host has this name: correct DATABASE_URL',
  ETIMEDOUT: 'it does not answer: check the network, or correct DATABASE_URL',
  '28P01': 'it refuses the password of DATABASE_URL',
  '28000': 'it refuses the user of DATABASE_URL',
  '3D000': 'it has no database of this name: create it, or correct DATABASE_URL',
  '57P03': 'it is starting up or shutting down: try again in a moment',
};

/** Turns an error of opening the store into a sentence that says what to do. Errors it does not know stay as they are. */
export function storeUnusable(error: unknown, { databaseUrl, dataDir }: StorePlace): unknown {
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  if (databaseUrl !== undefined) {
    const mend = MENDS[code ?? ''];
    if (mend === undefined) return error;
    const { hostname, port, pathname } = new URL(databaseUrl);
    return new Error(`PostgreSQL at ${hostname}:${port || 5432}${pathname}: ${mend}`, { cause: error });
  }
  if (syscall === undefined) return error;
  const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'it is a file' : message;
  return new Error(`The folder ${dataDir} cannot be used: ${reason}. Name another in DATA_DIR`, { cause: error });
}

interface StorePlace {
  databaseUrl?: string | undefined;
  dataDir: string;
}
