import { connect } from 'node:net';

/** The waiting times between `begin` and `end`. */
export interface Waits {
  asked: number;
  longestMs: number;
  p99Ms: number;
}

const EVERY_MS = 5;
/** The longest wait for an answer after the end. */
const PATIENCE_MS = 20_000;

/**
 * A separate process that requests /health every 5 ms over one warm connection to the port in its argument, and measures how
 * long it waits for the answers. If an answer is late, the requests that would have been sent meanwhile also count, with the
 * times that they would have waited.
 */
const REQUEST = 'GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n';
let waits: number[] = [];
let askedAt: number | undefined;

const socket = connect(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
socket.setNoDelay(true);
socket.on('data', () => note());
// The bench kills a service that stays busy for too long.
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
  // The service may have answered an expensive request and still be busy with it.
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
