import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../test/folder.ts';
import { openSpool } from './open.ts';

test('an emptied spool gives its space back in steps', () => {
  const path = join(makeFolder(), 'spool.db');
  const spool = openSpool(path);
  const session = spool.sessions.ensure('codex', 'one');
  const batch = { session, events: 1, madeAt: 0, digests: new Uint8Array(), marks: {} };
  spool.transact(() => {
    for (let n = 0; n < 200; n++) spool.batches.add({ ...batch, key: `${n}`, body: new Uint8Array(100_000) });
  });
  spool.batches.removeAll();
  let steps = 1;
  while (spool.shrink()) steps++;
  expect(steps).toBeGreaterThan(1);
  expect(statSync(path).size).toBeLessThan(5_000_000);
  spool.close();
});
