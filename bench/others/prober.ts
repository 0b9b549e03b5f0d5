import { connect } from 'node:net';

/** What a prober saw between `begin` and `end`. */
export interface Waits {
  asked: number;
  longestMs: number;
  p99Ms: number;
}

const EVERY_MS = 5;
/** How long an answer is waited for after the end. */
const PATIENCE_MS = 20_000;

/**
 * A process of its own that asks /health of the port in its argument every 5 ms over one warm connection, and tells how
 * long it waited for the answers. Where an answer is late, the questions that would have been asked meanwhile are counted
 * with what they would have waited.
 */
const REQUEST = 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
let waits: number[] = [];
let askedAt: number | undefined;

const socket = connect(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
socket.setNoDelay(true);
socket.on('data', () => note());
// The service is killed when it stays busy for too long.
socket.on('error', () => undefined);
setInterval(ask, EVERY_MS);

function ask(): void {
  if (askedAt !== undefined) return;
  askedAt = performance.now();
  socket.write(REQUEST);
}

function note(now = performance.now()): void {
  if (askedAt === undefined) return;
  for (let wait = now - askedAt; wait > 0; wait -= EVERY_MS) waits.push(wait);
  askedAt = undefined;
}

process.on('message', (message) => {
  if (message === 'begin') waits = [];
  if (message !== 'end') return;
  if (askedAt === undefined) return tell();
  // A service may have answered the request that keeps it busy, and be busy still.
  const giveUp = setTimeout(end, PATIENCE_MS);
  socket.once('data', end);
  function end() {
    clearTimeout(giveUp);
    socket.off('data', end);
    note();
    tell();
  }
});

function tell(): void {
  const sorted = waits.sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  const seen: Waits = { asked: sorted.length, longestMs: at(1), p99Ms: at(0.99) };
  process.send?.(seen);
}
process.on('disconnect', () => process.exit());
