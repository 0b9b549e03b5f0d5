import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { writeConsent } from '../privacy/consent.ts';
import { SPOOL_VERSION } from '../spool/schema.ts';
import { write } from '../test/folder.ts';
import { leave, type Machine, setUpMachine } from '../test/machine.ts';

const status = async ({ capture }: Machine) => (await capture(['status'])).stdout;

test('status is short if all is well, and recommends nothing', async () => {
  const machine = await setUpMachine();
  machine.service.state.publicUrl = 'https://capture.example.com';
  expect((await status(machine)).split('\n')).toEqual([
    `Service       ${machine.service.url}, reachable`,
    'Signed in     Acme, live plane',
    'Dashboard     https://capture.example.com/',
    'Daemon        running for less than a minute (0.1.0)',
    'New sessions  your organization and the repository decide who sees them',
    expect.stringMatching(/^Claude Code {3}1 transcript \(\d+ B\), 2 events of 1 session sent$/),
    'Transcripts   1 seen, all captured',
    'To be sent    nothing waits',
    'Last upload   less than a minute ago',
    '',
  ]);
});

/** A change to a machine on which all is well, a line that status then shows, its exit code, and the command to run next. */
const CASES: [name: string, (machine: Machine) => unknown, line: RegExp, exitCode: number, next: string | undefined][] =
  [
    ['signed out', ({ capture }) => capture(['logout']), /^Signed in {5}no$/m, 4, 'capture login'],
    [
      'a secret that was revoked',
      ({ service }) => Object.assign(service.state, { secret: 'sk_live_other' }),
      /^Signed in {5}no, the secret is refused \(Acme, live plane\)$/m,
      4,
      'capture login',
    ],
    ['a service that is down', ({ service }) => service.stop(), /, NOT reachable$/m, 75, undefined],
    ['not running', ({ endDaemon }) => endDaemon(), /^Daemon {8}not running$/m, 1, 'capture init'],
    [
      'set up, and stopped',
      ({ endDaemon, state }) => {
        write(join(state, 'setup.json'), '{"starter": "process"}');
        endDaemon();
      },
      /^Failed {3}The daemon is not running\..*\n {9}→ capture restart$/m,
      1,
      'capture restart',
    ],
    [
      'something left out, and something not read',
      (machine) => {
        for (const [index, folder] of ['shop', 'private', 'private'].entries()) {
          leave(machine, index + 2, 0, join(machine.home, folder));
        }
        write(join(machine.state, 'preferences.json'), '{"exclude": ["~/private"]}');
      },
      /^Not read yet {2}1 transcript, the oldest for less than a minute\nKept back {5}2 transcripts: "~\/private" is excluded$/m,
      0,
      undefined,
    ],
    [
      'a file that an agent has made and not written to',
      ({ home }) => write(join(home, '.claude/projects/shop/0d5f0b5e-0000-4000-8000-000000000009.jsonl'), ''),
      /^Claude Code {3}1 transcript .*\nTranscripts {3}1 seen, all captured$/m,
      0,
      undefined,
    ],
    [
      'sessions from before capturing began',
      (machine) => {
        leave(machine, 2, 1000);
        const place = { home: machine.home, variables: { CAPTURE_HOME: machine.state } };
        writeConsent(place, { since: Date.now(), history: 'none' });
      },
      /^Earlier {7}1 transcript from before setup, not captured$/m,
      0,
      undefined,
    ],
    [
      'a refused event and a withheld record',
      ({ inSpool }) =>
        inSpool((spool) => {
          spool.refused.add({ session: 1, event: '{}', problem: 'too odd', refusedAt: 0 });
          spool.count('recordsWithheld');
        }),
      /^So far {8}1 record withheld\n\nFailed {3}1 event refused .*: too odd\.\n {9}→ capture spool retry/m,
      1,
      'capture spool retry',
    ],
    [
      'an error after which sending continued',
      ({ inSpool }) => inSpool((spool) => spool.setMeta('lastError', '2026-01-01T00:00:00.000Z bad')),
      /^Last upload {3}less than a minute ago\n$/m,
      0,
      undefined,
    ],
  ];

test.each(CASES)('%s', async (_name, arrange, line, exitCode, next) => {
  const machine = await setUpMachine();
  await arrange(machine);
  const shown = await machine.capture(['status']);
  expect(shown).toMatchObject({ exitCode, stderr: '' });
  expect(shown.stdout).toMatch(line);
  expect(/\n\nNext: (.*)\n$/.exec(shown.stdout)?.[1]).toBe(next);
  const json = await machine.capture(['status', '--json']);
  expect(json).toMatchObject({ exitCode, stderr: '' });
  expect(JSON.parse(json.stdout).next).toBe(next);
  // Whatever is wrong, status still shows the captured and sent events.
  expect(shown.stdout).toMatch(/^Claude Code .*, 2 events of 1 session sent$/m);
  expect(shown.stdout).toContain('To be sent    nothing waits');
});

test('the log is shown on request, with its path', async () => {
  const machine = await setUpMachine();
  write(join(machine.state, 'daemon.log'), 'one\ntwo\n');
  expect(await machine.capture(['status', '--log'])).toEqual({
    exitCode: 0,
    stdout: 'one\ntwo\n',
    stderr: `From ${join(machine.state, 'daemon.log')}\n`,
  });
});

test('waiting events are shown with their cap', async () => {
  const machine = await setUpMachine();
  machine.inSpool((spool) => {
    spool.batches.add({
      session: 1,
      key: 'k',
      events: 3,
      digests: new Uint8Array(),
      marks: {},
      body: Buffer.alloc(100),
      madeAt: Date.now(),
    });
  });
  expect(await status(machine)).toContain('To be sent    3 events (100 B of 1.0 GB) waiting, the oldest for less');
});

test('a machine that never captured says so, and no folder is created', async () => {
  const machine = await setUpMachine();
  rmSync(machine.state, { recursive: true });
  const shown = await machine.capture(['status']);
  expect(shown).toMatchObject({ exitCode: 4, stdout: expect.stringContaining('nothing captured yet') });
});

test('a spool that cannot be opened hides the counts, and its own fix is shown', async () => {
  const machine = await setUpMachine();
  const db = new DatabaseSync(join(machine.state, 'spool.db'));
  db.exec(`PRAGMA user_version = ${SPOOL_VERSION + 1}`);
  db.close();
  const { stdout, exitCode } = await machine.capture(['status']);
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^To be sent {4}the spool cannot be opened$/m);
  expect(stdout).toMatch(
    /^Failed {3}The spool cannot be opened: .* by a newer version of capture\.\n {9}→ Update capture\.$/m,
  );
  expect(stdout).toMatch(/^Claude Code {3}1 transcript \(\d+ B\)$/m);
  expect(stdout).not.toMatch(/capture import|nothing captured yet|Not read yet/i);
});

test('colours appear on a terminal unless a variable turns them off', async () => {
  const machine = await setUpMachine();
  machine.endDaemon();
  const red = '\u001b[31mFailed   \u001b[39mThe daemon';
  expect((await machine.capture(['status'], { isTTY: true })).stdout).toContain(red);
  expect((await machine.capture(['status'], { variables: { FORCE_COLOR: '1' } })).stdout).toContain(red);
  for (const plain of [{}, { isTTY: true, variables: { NO_COLOR: '1' } }]) {
    expect((await machine.capture(['status'], plain)).stdout).not.toContain('\u001b');
  }
});
