import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { write } from '../test/folder.ts';
import { DAY_MS, HOUR_MS, leave, type Machine, setUpMachine, type Trouble, testTroubles } from '../test/machine.ts';
import { sessionId } from '../test/transcripts.ts';

const MINUTE_MS = 60_000;

const prefer = ({ state }: Machine, preferences: object) =>
  write(join(state, 'preferences.json'), JSON.stringify(preferences));

/** An event that has waited since then. */
const wait = ({ inSpool }: Machine, ms: number, bytes = 100) =>
  inSpool((spool) => {
    spool.batches.add({
      session: 1,
      key: 'k',
      events: 1,
      digests: new Uint8Array(),
      marks: {},
      body: Buffer.alloc(bytes),
      madeAt: Date.now() - ms,
    });
  });

const AGENTS: Trouble[] = [
  [
    'Cursor has no hooks',
    'hooks',
    'warning',
    /^Cursor: .* does not run capture's hook/,
    /^capture init$/,
    { arrange: ({ home }) => mkdirSync(join(home, '.cursor')) },
  ],
  [
    'the hook cannot be run',
    'hooks',
    'warning',
    /^Cursor: .*bin\/hook cannot be run/,
    /^capture init$/,
    {
      arrange({ home, state }) {
        write(join(state, 'bin/hook'), '');
        chmodSync(join(state, 'bin/hook'), 0o600);
        write(join(home, '.cursor/hooks.json'), JSON.stringify({ command: join(state, 'bin/hook') }));
      },
    },
  ],
  [
    'the agent will soon delete an uncaptured transcript',
    'deletion',
    'failed',
    /deletes transcripts after 30 days \(cleanupPeriodDays\), and 2 transcripts that .* the oldest is 28 days old/,
    /^capture import$/,
    {
      arrange(machine) {
        leave(machine, 2, 28 * DAY_MS);
        leave(machine, 3, 25 * DAY_MS);
        leave(machine, 4, 2 * DAY_MS);
      },
    },
  ],
  [
    'the agent keeps no transcripts',
    'deletion',
    'failed',
    /keeps no transcripts, since cleanupPeriodDays is 0/,
    /^Set "cleanupPeriodDays"/,
    { arrange: ({ home }) => write(join(home, '.claude/settings.json'), '{"cleanupPeriodDays": 0}') },
  ],
  [
    'transcripts are not read',
    'reading',
    'warning',
    /^1 transcript of 2 is not fully captured yet, the oldest for 2 days/,
    /^capture import$/,
    { arrange: (machine) => leave(machine, 2, 2 * DAY_MS) },
  ],
  [
    'a transcript cannot be read',
    'readable',
    'failed',
    /^1 file or folder of Claude Code cannot be read/,
    /^capture import --dry-run .*chmod/,
    {
      // A link to itself cannot be opened by anybody, not even root.
      arrange({ home }) {
        const name = `${sessionId(2)}.jsonl`;
        symlinkSync(name, join(home, '.claude/projects/shop', name));
      },
    },
  ],
  [
    'the preferences are wrong',
    'preferences',
    'failed',
    /preferences\.json: "exlude" is not a setting\. Nothing is captured/,
    /^Correct the file\. Its settings are include, exclude, visibility,/,
    { arrange: (machine) => prefer(machine, { exlude: [] }) },
  ],
];

const PAUSE: Trouble[] = [
  [
    'the clock was set back since the last pause',
    'pause',
    'warning',
    /^The clock was set back, .* It is not captured until \d{4}-/,
    /^Check the clock/,
    {
      arrange: ({ inSpool }) =>
        inSpool(({ decisions }) =>
          decisions.setPauses([{ from: Date.now() - HOUR_MS, until: Date.now() + HOUR_MS, isEnded: true }]),
        ),
    },
  ],
];

const SPOOL: Trouble[] = [
  [
    'events have been waiting for hours',
    'spool',
    'warning',
    /^1 event \(100 B of 1\.0 GB\) wait, the oldest for 5 hours\. Last error: bad/,
    /^capture status --log$/,
    {
      arrange(machine) {
        wait(machine, 5 * HOUR_MS);
        machine.inSpool((spool) => spool.setMeta('lastError', 'bad'));
      },
    },
  ],
  [
    'the spool grows',
    'spool',
    'warning',
    /grows towards its cap/,
    /^capture status --log/,
    {
      arrange(machine) {
        wait(machine, 0, 600_000);
        prefer(machine, { spool: { maxMegabytes: 1 } });
      },
    },
  ],
  [
    'the spool is full',
    'full',
    'failed',
    /The spool is full, so nothing more is read/,
    /^capture status --log/,
    {
      arrange(machine) {
        wait(machine, 0, 1_100_000);
        prefer(machine, { spool: { maxMegabytes: 1 } });
      },
    },
  ],
  [
    'the spool is damaged',
    'spool',
    'failed',
    /cannot be opened/,
    /^capture import$/,
    {
      arrange({ state }) {
        for (const end of ['-wal', '-shm']) rmSync(join(state, `spool.db${end}`), { force: true });
        write(join(state, 'spool.db'), 'x'.repeat(9000));
      },
    },
  ],
  [
    'a damaged spool was kept',
    'damaged',
    'warning',
    /^1 damaged spool kept \(3 B\)/,
    /^capture verify && rm \S+corrupt\S+\*$/,
    { arrange: ({ state }) => write(join(state, 'spool.db.corrupt-2026-11-21T12-00-00.000Z'), 'bad') },
  ],
  [
    'events were refused',
    'refused',
    'failed',
    /^1 event refused by the service and set aside: too odd/,
    /^capture spool retry/,
    {
      arrange: ({ inSpool }) =>
        inSpool((spool) => spool.refused.add({ session: 1, event: '{}', problem: 'too odd', refusedAt: Date.now() })),
    },
  ],
  ['the disk is nearly full', 'disk', 'warning', /has 500\.0 MB left/, /^df -h/, { freeBytes: 500_000_000 }],
  ['the disk is full', 'disk', 'failed', /has 5\.0 KB left/, /^df -h/, { freeBytes: 5000 }],
  [
    'records were withheld',
    'redaction',
    'warning',
    /^2 records withheld/,
    /^capture redact --test/,
    { arrange: ({ inSpool }) => inSpool((spool) => spool.count('recordsWithheld', 2)) },
  ],
];

testTroubles([...AGENTS, ...PAUSE, ...SPOOL]);

test('unread transcripts are no trouble while a new machine reads them, but they are after a mere start of the daemon', async () => {
  const machine = await setUpMachine();
  leave(machine, 2, 2 * DAY_MS);
  leave(machine, 3, 28 * DAY_MS);
  const checks = async () => (await machine.findTroubles()).map(({ check }) => check);
  expect(await checks()).toEqual(['deletion', 'reading']);
  machine.beginAt(Date.now() - MINUTE_MS);
  expect(await checks()).toEqual([]);
});
