import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Spool } from '../spool/open.ts';
import { write } from '../test/folder.ts';
import { HOUR_MS, type Machine, setUpMachine, type Trouble, testTroubles } from '../test/machine.ts';

const beat = (values: object) => (machine: Machine) =>
  machine.inSpool((spool) => spool.setMeta('daemon', JSON.stringify(values)));
const endDaemon = ({ endDaemon: end }: Machine) => end();
const answer = (values: object) => (machine: Machine) => Object.assign(machine.service.state, values);
const at = (ms: number) => ({ now: () => Date.now() + ms });

/** Sessions of a disabled agent, each with a waiting batch. */
function defer(spool: Spool, ...sessions: string[]): void {
  for (const name of sessions) {
    const session = spool.sessions.ensure('codex', name);
    spool.batches.add({
      session,
      key: name,
      events: 1,
      digests: new Uint8Array(),
      marks: {},
      body: new Uint8Array(),
      madeAt: Date.now(),
    });
    const until = Date.now() + 5 * 60_000;
    spool.deferrals.defer(session, { state: 'deferred', sentence: 'Disabled.', hint: 'Ask.', exitCode: 1, until });
  }
}

const SERVICE: Trouble[] = [
  [
    'nobody is signed in',
    'sign-in',
    'failed',
    /Nobody is signed in/,
    /^capture login$/,
    { arrange: ({ capture }) => capture(['logout']) },
  ],
  [
    'the sign-in cannot be read',
    'sign-in',
    'failed',
    /config\.json cannot be read/,
    /^capture login$/,
    { arrange: ({ state }) => write(join(state, 'config.json'), '{') },
  ],
  [
    'the secret was revoked',
    'sign-in',
    'failed',
    /refuses the secret/,
    /^capture login/,
    { arrange: answer({ secret: 'sk_live_other' }) },
  ],
  [
    'the service is down',
    'service',
    'failed',
    /cannot be reached: (no server listens there|the connection was broken)\.$/,
    /^curl http.*\/health/,
    { arrange: ({ service }) => service.stop() },
  ],
  [
    'something else answers',
    'service',
    'failed',
    /^Something other than the service answers at http:\S+, such as the sign-in page of a network\.$/,
    /--url ADDRESS/,
    { arrange: answer({ faults: { page: 1 } }) },
  ],
  [
    'the service has an error',
    'service',
    'failed',
    /was reached, but answers with an error: .*[^.]\.$/,
    /^Wait\. /,
    { arrange: answer({ faults: { unavailable: 1 } }) },
  ],
  [
    'the service accepts no more for now',
    'service',
    'failed',
    /was reached, but answers with an error: .*rate_limited\.$/,
    /^Wait\. Captured events are kept, and sent once the service accepts them\.$/,
    { arrange: answer({ faults: { rateLimited: 1 } }) },
  ],
  [
    'the machine was revoked',
    'sending',
    'failed',
    /^Revoked\.$/,
    /^Ask\.$/,
    {
      arrange: ({ inSpool }) => inSpool((spool) => spool.setNotice('sending', { sentence: 'Revoked.', hint: 'Ask.' })),
    },
  ],
  [
    'an agent was disabled',
    'deferred',
    'warning',
    /^Disabled\. 2 sessions are tried again in 5 minutes\.$/,
    /^Ask\.$/,
    { arrange: ({ inSpool }) => inSpool((spool) => defer(spool, 'one', 'another')) },
  ],
  ['the clock is ahead', 'clock', 'warning', /10 minutes ahead/, /timedatectl/, { context: at(600_000) }],
  ['the clock is behind', 'clock', 'warning', /10 minutes behind/, /timedatectl/, { context: at(-600_000) }],
  [
    'capture is older than the service',
    'version',
    'warning',
    /is older than the service \(99\.0\.0\)/,
    /^Install the newest version in the same way/,
    { arrange: answer({ version: '99.0.0' }) },
  ],
];

const DAEMON: Trouble[] = [
  ['the daemon does not run', 'daemon', 'failed', /is not running\./, /^capture init$/, { arrange: endDaemon }],
  [
    'the daemon has crashed',
    'daemon',
    'failed',
    /is not running\. It last ran 3 hours ago; `capture status --log` says why it ended\.$/,
    /^capture init$/,
    {
      arrange(machine) {
        machine.endDaemon();
        beat({ beatAt: Date.now() - 3 * HOUR_MS })(machine);
      },
    },
  ],
  [
    'the daemon is of an older version',
    'daemon',
    'warning',
    /still runs version 0\.0\.1/,
    /^capture restart$/,
    { arrange: ({ startAs }) => startAs('0.0.1') },
  ],
  [
    'the daemon hangs',
    'daemon',
    'warning',
    /not reached the service for 3 hours/,
    /^capture restart$/,
    { arrange: beat({ beatAt: Date.now() - 3 * HOUR_MS }) },
  ],
  [
    'others may write to the state folder',
    'state-folders',
    'failed',
    /is writable by other users/,
    /^chmod go-w/,
    { arrange: ({ state }) => chmodSync(state, 0o777) },
  ],
];

testTroubles([...SERVICE, ...DAEMON]);

test('no findings if all is well', async () => {
  const { findTroubles } = await setUpMachine();
  expect(await findTroubles()).toEqual([]);
});

test('a refused secret of CAPTURE_SECRET is corrected there, and not by another sign-in', async () => {
  const { home, state, findTroubles } = await setUpMachine();
  const variables = { HOME: home, CAPTURE_HOME: state, CAPTURE_SECRET: 'sk_live_wrong' };
  const [found] = await findTroubles({ variables });
  expect(found).toMatchObject({
    check: 'sign-in',
    sentence: expect.stringContaining('refuses the secret in CAPTURE_SECRET'),
    fix: expect.stringMatching(/^unset CAPTURE_SECRET/),
  });
});
