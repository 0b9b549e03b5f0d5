import zlib, { zstdCompressSync } from 'node:zlib';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import type { Spool } from '../spool/open.ts';

export interface BatchingOptions {
  spool: Pick<Spool, 'batches'>;
  /** Milliseconds since 1970. */
  now: () => number;
  newKey: () => string;
}

/** What one request may hold must hold several. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Four to five times smaller at over 100 MB/s; gzip is half as fast and a third larger. */
const COMPRESSION = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/** A batch as it is before it is compressed: written again and again, since a megabyte thrown away each time is collected late. */
let plain = Buffer.allocUnsafe(64 * 1024);

interface OpenBatch {
  events: Buffer[];
  bytes: number;
}

/** Gathers the events of each session into batches, and writes those that are full into the open transaction. */
export function createBatching({ spool, now, newKey }: BatchingOptions) {
  const open = new Map<number, OpenBatch>();
  let sealed = 0;

  function seal(session: number, { events, bytes }: OpenBatch): void {
    const body = compress(events, bytes);
    spool.batches.add({ session, key: newKey(), events: events.length, body, madeAt: now() });
    sealed += events.length;
  }

  return {
    /** Adds an event by its JSON text, in UTF-8. */
    add(session: number, json: Buffer): void {
      const size = json.length + 1;
      let batch = open.get(session);
      if (batch && (batch.events.length === MAX_BATCH_EVENTS || batch.bytes + size > MAX_BATCH_BYTES)) {
        seal(session, batch);
        batch = undefined;
      }
      batch ??= { events: [], bytes: 0 };
      batch.events.push(json);
      batch.bytes += size;
      open.set(session, batch);
    },
    /** Seals what is gathered, full or not; returns how many events were sealed in all. */
    seal(): number {
      for (const [session, batch] of open) seal(session, batch);
      open.clear();
      return sealed;
    },
  };
}

/** `{"events":[…]}` in a zstd frame. `bytes` counts the events, with a comma after each. */
function compress(events: readonly Buffer[], bytes: number): Buffer {
  if (plain.length < bytes + FRAME_BYTES) plain = Buffer.allocUnsafe(2 * (bytes + FRAME_BYTES));
  let end = plain.write('{"events":[', 'latin1');
  for (const [index, json] of events.entries()) {
    if (index > 0) plain[end++] = COMMA;
    end += json.copy(plain, end);
  }
  end += plain.write(']}', end, 'latin1');
  // One piece holds it as a rule.
  return zstdCompressSync(plain.subarray(0, end), { ...COMPRESSION, chunkSize: Math.max(4096, end >> 2) });
}

const COMMA = 0x2c;
const FRAME_BYTES = 16;
