import type { Bytes } from './bytes.ts';

export interface Line {
  /** Byte offsets in the file; `end` is after the line feed. */
  start: number;
  end: number;
  /** The line without its line feed. Valid until the next call. */
  bytes: Buffer;
  /** False for the last line of a file while its line feed is missing. */
  terminated: boolean;
  /** The line exceeds the limit, and `bytes` is empty. */
  tooLong: boolean;
}

/** A longer line is not kept. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** After a long line, a buffer that is this many times too large is released. */
const MUCH_LARGER = 16;
/** A buffer above this many bytes grows to the line's end at once. */
const LARGE = 1024 * 1024;
const LINE_FEED = 10;

/** How many bytes before a position are kept. They show later whether the file is still the same one. */
export const TAIL_BYTES = 1024;

/** Reads lines from an offset on. It needs memory for the longest line. The last line is returned unterminated, or not at all. */
export function createLineReader(from: Bytes, offset: number, chunkBytes: number, maxLineBytes = MAX_LINE_BYTES) {
  let buffer = Buffer.allocUnsafe(chunkBytes + TAIL_BYTES);
  // The buffer contains the file from `base` to `filled`. The lines before `at` were returned.
  let base = Math.max(0, offset - TAIL_BYTES);
  let filled = readFully(buffer.subarray(0, offset - base), base);
  let at = offset - base;
  let ended = filled < at;

  function readFully(into: Buffer, position: number): number {
    let count = 0;
    while (count < into.length) {
      const read = from.read(into, count, into.length - count, position + count);
      if (read === 0) break;
      count += read;
    }
    return count;
  }

  /** How much room to make at once, so that a long line is not moved again each time the room doubles. */
  function lengthOfRest(): number {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let length = 0; length <= maxLineBytes; length += chunk.length) {
      const read = readFully(chunk, base + filled + length);
      if (read < chunk.length || chunk.includes(LINE_FEED)) return length + chunk.length;
    }
    return maxLineBytes;
  }

  /** Appends another chunk to the buffer. Returns false at the end of the file. */
  function fill(): boolean {
    const keep = Math.max(0, at - TAIL_BYTES);
    const needed = filled - keep + chunkBytes;
    if (needed > buffer.length || buffer.length > MUCH_LARGER * needed) {
      const room = needed > buffer.length ? Math.max(needed, 2 * buffer.length) : needed;
      const other = Buffer.allocUnsafe(needed > LARGE ? filled - keep + lengthOfRest() : room);
      buffer.copy(other, 0, keep, filled);
      buffer = other;
    } else {
      buffer.copyWithin(0, keep, filled);
    }
    base += keep;
    at -= keep;
    filled -= keep;
    const read = readFully(buffer.subarray(filled, filled + chunkBytes), base + filled);
    filled += read;
    ended = read < chunkBytes;
    return read > 0;
  }

  function give(end: number, terminated: boolean): Line {
    const line = { start: base + at, end: base + end + (terminated ? 1 : 0), bytes: buffer.subarray(at, end) };
    at = end + (terminated ? 1 : 0);
    return { ...line, terminated, tooLong: false };
  }

  /** Skips a line that will not be kept. Undefined until the end of the line is written. */
  function skipLong(): Line | undefined {
    const start = base + at;
    for (;;) {
      const feed = buffer.subarray(0, filled).indexOf(LINE_FEED, at);
      if (feed >= 0) {
        at = feed + 1;
        return { start, end: base + at, bytes: Buffer.alloc(0), terminated: true, tooLong: true };
      }
      at = filled;
      if (!fill()) return undefined;
    }
  }

  return {
    next(): Line | undefined {
      let searched = at;
      for (;;) {
        const feed = buffer.subarray(0, filled).indexOf(LINE_FEED, searched);
        if (feed >= 0 && feed - at <= maxLineBytes) return give(feed, true);
        if (filled - at > maxLineBytes) return skipLong();
        searched = filled - at;
        const more = !ended && fill();
        searched += at;
        if (!more) return filled > at ? give(filled, false) : undefined;
      }
    },
    /** The last bytes before a position in the most recent line, or at its beginning. Valid until the next read. */
    before(position: number): Buffer {
      const end = position - base;
      return buffer.subarray(Math.max(0, end - TAIL_BYTES), end);
    },
  };
}
