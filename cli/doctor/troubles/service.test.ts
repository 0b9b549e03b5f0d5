import { join } from 'node:path';
import { type Scenario, testScenarios } from '../../test/doctor.ts';
import { write } from '../../test/folder.ts';

const SCENARIOS: Scenario[] = [
  {
    name: 'nobody is signed in',
    check: 'sign-in',
    outcome: 'failed',
    sentence: /Nobody is signed in/,
    fix: /^capture login$/,
    arrange: ({ capture }) => capture(['logout']),
  },
  {
    name: 'the sign-in cannot be read',
    check: 'sign-in',
    outcome: 'failed',
    sentence: /config\.json cannot be read/,
    fix: /^capture login$/,
    arrange: ({ state }) => write(join(state, 'config.json'), '{'),
  },
  {
    name: 'the secret was revoked',
    check: 'secret',
    outcome: 'failed',
    sentence: /refuses the secret/,
    fix: /^capture login/,
    arrange: ({ service }) => {
      service.state.secret = 'sk_live_other';
    },
  },
  {
    name: 'the service is down',
    check: 'service',
    outcome: 'failed',
    sentence: /cannot be reached: fetch failed/,
    fix: /^curl http.*\/health/,
    arrange: ({ service }) => service.stop(),
  },
  {
    name: 'something else answers',
    check: 'service',
    outcome: 'failed',
    sentence: /is not the service/,
    fix: /--url ADDRESS/,
    arrange: ({ service }) => {
      service.state.faults = { page: 1 };
    },
  },
  {
    name: 'the service is too old',
    check: 'service',
    outcome: 'warning',
    sentence: /too old/,
    fix: /update/,
    context: () => ({
      fetch: (input, init) =>
        String(input).endsWith('/v1/secret')
          ? Promise.resolve(Response.json({ error: 'No.', code: 'not_found' }, { status: 404 }))
          : fetch(input, init),
    }),
  },
  {
    name: 'the machine was revoked',
    check: 'held',
    outcome: 'failed',
    sentence: /This machine was revoked/,
    fix: /administrator/,
    arrange: ({ inSpool }) =>
      inSpool((spool) =>
        spool.setNotice('held', { sentence: 'This machine was revoked.', hint: 'Ask an administrator.' }),
      ),
  },
  {
    name: 'an agent was disabled',
    check: 'held',
    outcome: 'warning',
    sentence: /has disabled/,
    fix: /administrator/,
    arrange: ({ inSpool }) =>
      inSpool((spool) =>
        spool.setNotice('heldSome', { sentence: 'One has disabled it.', hint: 'Ask an administrator.' }),
      ),
  },
  {
    name: 'the clock is ahead',
    check: 'clock',
    outcome: 'warning',
    sentence: /10 minutes ahead/,
    fix: /timedatectl/,
    context: () => ({ now: () => Date.now() + 600_000 }),
  },
  {
    name: 'the clock is behind',
    check: 'clock',
    outcome: 'warning',
    sentence: /10 minutes behind/,
    fix: /timedatectl/,
    context: () => ({ now: () => Date.now() - 600_000 }),
  },
  {
    name: 'capture is older than the service',
    check: 'version',
    outcome: 'warning',
    sentence: /is older than the service \(99\.0\.0\)/,
    fix: /^npm install --global @session-capture\/cli@latest$/,
    arrange: ({ service }) => {
      service.state.version = '99.0.0';
    },
  },
];

testScenarios(SCENARIOS);
