import { constants as zlib, zstdCompressSync } from 'node:zlib';
import { MAX_BATCH_EVENTS } from '../../contract/event.ts';
import type { Spool } from '../spool/open.ts';
import { packTags, type Tag } from '../spool/tags.ts';

export interface BatchingOptions {
  spool: Pick<Spool, 'batches'>;
  now: () => number;
  newKey: () => string;
}

/** Proxies refuse more than a megabyte as they come; it is less on the way, being compressed. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Four to five times smaller at over 100 MB/s; gzip is half as fast and a third larger. */
const COMPRESSION = { params: { [zlib.ZSTD_c_compressionLevel]: 1 } };

interface OpenBatch {
  events: string[];
  bytes: number;
  firstAt: number | undefined;
  tags: Tag[];
}

/** Gathers the events of each session into batches, and writes those that are full into the open transaction. */
export function createBatching({ spool, now, newKey }: BatchingOptions) {
  let open = new Map<number, OpenBatch>();
  let sealed = 0;

  function seal(session: number, { events, firstAt, tags }: OpenBatch): void {
    const body = zstdCompressSync(`{"events":[${events.join(',')}]}`, COMPRESSION);
    const sealedBatch = { session, key: newKey(), events: events.length, firstAt, madeAt: now(), encoding: 'zstd' };
    spool.batches.add({ ...sealedBatch, body, records: packTags(tags) });
    sealed += events.length;
  }

  return {
    /** Adds an event of the record that is tagged so; returns the bytes that this added. */
    add(session: number, json: string, time: number | undefined, record: Buffer): number {
      const size = Buffer.byteLength(json) + 1;
      let batch = open.get(session);
      if (batch && (batch.events.length === MAX_BATCH_EVENTS || batch.bytes + size > MAX_BATCH_BYTES)) {
        seal(session, batch);
        batch = undefined;
      }
      batch ??= { events: [], bytes: 0, firstAt: undefined, tags: [] };
      batch.events.push(json);
      batch.bytes += size;
      batch.firstAt ??= time;
      const last = batch.tags.at(-1);
      if (last?.record === record) last.events++;
      else batch.tags.push({ record, events: 1 });
      open.set(session, batch);
      return size;
    },
    /** Seals what is gathered, full or not; returns the events sealed since the last commit. */
    seal(): number {
      for (const [session, batch] of open) seal(session, batch);
      open = new Map();
      const events = sealed;
      sealed = 0;
      return events;
    },
    forget(): void {
      open = new Map();
      sealed = 0;
    },
  };
}
