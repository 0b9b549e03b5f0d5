import { zstdDecompressSync } from 'node:zlib';
import { parseExact } from '../read/exact.ts';
import type { Batch } from '../spool/batches.ts';

/** A refused batch in two halves, under keys that follow from its own; undefined when there is but one event. */
export function halve(batch: Batch): [Batch, Batch] | undefined {
  const events = readEvents(batch);
  if (events.length < 2) return undefined;
  const middle = Math.ceil(events.length / 2);
  // A batch is refused as a whole, so its events may be sent again under other keys. The same halves and keys come out
  // after a crash, and then the service recognises them.
  const half = (part: unknown[], name: string): Batch => ({
    ...batch,
    key: `${batch.key}.${name}`,
    events: part.length,
    encoding: 'identity',
    body: Buffer.from(JSON.stringify({ events: part })),
  });
  return [half(events.slice(0, middle), 'a'), half(events.slice(middle), 'b')];
}

export function readEvents({ body, encoding }: Pick<Batch, 'body' | 'encoding'>): unknown[] {
  const bytes = encoding === 'zstd' ? zstdDecompressSync(body) : Buffer.from(body);
  // Written again, it is to be the same text, whatever numbers are in it.
  return (parseExact(bytes.toString('utf8')) as { events: unknown[] }).events;
}
