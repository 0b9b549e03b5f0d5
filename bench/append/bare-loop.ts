import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createEvents } from '../text.ts';

/**
 * The baseline: one process without a network. It writes a row for each event, and commits each batch as durably as the service.
 * Arguments: folder, events a batch, seconds. Prints batches a second.
 */
const [folder = '', batchSize = '50', seconds = '5'] = process.argv.slice(2);
const database = new DatabaseSync(join(folder, 'bare.sqlite'));
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536');
database.exec(
  'CREATE TABLE events (session TEXT, sequence INTEGER, type TEXT, payload TEXT, PRIMARY KEY (session, sequence))',
);
const insert = database.prepare('INSERT INTO events VALUES (?, ?, ?, ?)');

const makeEvent = createEvents(1);
const batches = Array.from({ length: 200 }, () => Array.from({ length: Number(batchSize) }, () => makeEvent(1024)));

let sequence = 0;
let done = 0;
const started = performance.now();
const until = started + Number(seconds) * 1000;
while (performance.now() < until) {
  database.exec('BEGIN IMMEDIATE');
  for (const { eventType, payload } of batches[done % batches.length] ?? []) {
    insert.run('session', ++sequence, eventType, JSON.stringify(payload));
  }
  database.exec('COMMIT');
  done++;
}
process.stdout.write(`${done / ((performance.now() - started) / 1000)}\n`);
