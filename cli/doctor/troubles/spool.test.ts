import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS, type Machine, type Scenario, testScenarios } from '../../test/doctor.ts';
import { write } from '../../test/folder.ts';

/** An event that waits since then. */
const wait = ({ inSpool }: Machine, ms: number, bytes = 100) =>
  inSpool((spool) => {
    spool.batches.add({ session: 1, key: 'k', events: 1, body: Buffer.alloc(bytes), madeAt: Date.now() - ms });
  });

const SCENARIOS: Scenario[] = [
  {
    name: 'events have been waiting for hours',
    check: 'spool',
    outcome: 'warning',
    sentence: /^1 event \(100 B of 1\.0 GB\) wait, the oldest for 5 hours\. Last error: bad/,
    fix: /^capture logs -f$/,
    arrange(machine) {
      wait(machine, 5 * HOUR_MS);
      machine.inSpool((spool) => spool.setMeta('lastError', 'bad'));
    },
  },
  {
    name: 'events have been waiting for too long',
    check: 'spool',
    outcome: 'failed',
    sentence: /waiting for 31 days/,
    fix: /^capture logs/,
    arrange: (machine) => wait(machine, 31 * DAY_MS),
  },
  {
    name: 'the spool grows',
    check: 'spool',
    outcome: 'warning',
    sentence: /grows towards its cap/,
    fix: /^capture logs/,
    arrange(machine) {
      wait(machine, 0, 600_000);
      write(join(machine.state, 'preferences.json'), '{"spool": {"maxMegabytes": 1}}');
    },
  },
  {
    name: 'the spool is full',
    check: 'spool',
    outcome: 'failed',
    sentence: /at its cap, so nothing more is read/,
    fix: /^capture logs/,
    arrange(machine) {
      wait(machine, 0, 1_100_000);
      write(join(machine.state, 'preferences.json'), '{"spool": {"maxMegabytes": 1}}');
    },
  },
  {
    name: 'the spool is damaged',
    check: 'spool',
    outcome: 'failed',
    sentence: /cannot be opened/,
    fix: /^capture import$/,
    arrange({ state }) {
      for (const end of ['-wal', '-shm']) rmSync(join(state, `spool.db${end}`), { force: true });
      write(join(state, 'spool.db'), 'x'.repeat(9000));
    },
  },
  {
    name: 'a damaged spool was put aside',
    check: 'quarantined',
    outcome: 'warning',
    sentence: /^1 damaged spool kept aside, 3 B/,
    fix: /^capture verify && rm '.*corrupt.*'\*$/,
    arrange: ({ state }) => write(join(state, 'spool.db.corrupt-2026-11-21T12-00-00.000Z'), 'bad'),
  },
  {
    name: 'events were refused',
    check: 'refused',
    outcome: 'warning',
    sentence: /^1 event refused by the service and set aside: too odd/,
    fix: /^capture spool retry$/,
    arrange: ({ inSpool }) =>
      inSpool((spool) => spool.refused.add({ session: 1, event: '{}', problem: 'too odd', refusedAt: Date.now() })),
  },
  {
    name: 'the disk is nearly full',
    check: 'disk',
    outcome: 'warning',
    sentence: /has 500\.0 MB left/,
    fix: /^df -h/,
    options: { freeBytes: () => 500_000_000 },
  },
  {
    name: 'the disk is full',
    check: 'disk',
    outcome: 'failed',
    sentence: /has 5\.0 KB left/,
    fix: /^df -h/,
    options: { freeBytes: () => 5000 },
  },
  {
    name: 'records were withheld',
    check: 'redaction',
    outcome: 'warning',
    sentence: /^2 records withheld/,
    fix: /^capture redact --test/,
    arrange: ({ inSpool }) => inSpool((spool) => spool.count('recordsWithheld', 2)),
  },
];

testScenarios(SCENARIOS);
