import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { claimHome } from '../../daemon/same-home.ts';
import { takeLock } from '../../lock.ts';
import { HOUR_MS, type Scenario, testScenarios } from '../../test/doctor.ts';
import { write } from '../../test/folder.ts';

const setUpAs = (state: string, starter: string) => write(join(state, 'setup.json'), JSON.stringify({ starter }));

const SCENARIOS: Scenario[] = [
  {
    name: 'the daemon was never set up',
    check: 'daemon',
    outcome: 'failed',
    sentence: /nothing is set up/,
    fix: /^capture init$/,
    arrange({ endDaemon, state }) {
      endDaemon();
      for (const name of ['setup.json', 'daemon.pid']) rmSync(join(state, name));
    },
  },
  {
    name: 'the daemon does not run',
    check: 'daemon',
    outcome: 'failed',
    sentence: /does not run\.$/,
    fix: /^capture run$/,
    arrange({ endDaemon, state }) {
      endDaemon();
      rmSync(join(state, 'daemon.pid'));
    },
  },
  {
    name: 'the daemon waits for a hook to start it',
    check: 'daemon',
    outcome: 'warning',
    sentence: /started when an agent next works/,
    fix: /^capture run$/,
    arrange({ endDaemon, state }) {
      endDaemon();
      rmSync(join(state, 'daemon.pid'));
      setUpAs(state, 'hook');
    },
  },
  {
    name: 'the daemon has crashed',
    check: 'daemon',
    outcome: 'failed',
    sentence: /without saying so \(process 4711, last heard of 3 hours ago\)/,
    fix: /^capture run/,
    arrange({ endDaemon, inSpool }) {
      endDaemon();
      inSpool((spool) => spool.setMeta('daemon', JSON.stringify({ pid: 4711, beatAt: Date.now() - 3 * HOUR_MS })));
    },
  },
  {
    name: 'the daemon is of an older version',
    check: 'daemon',
    outcome: 'warning',
    sentence: /of version 0\.0\.1/,
    fix: /^kill 4711 && capture run$/,
    arrange: ({ inSpool }) =>
      inSpool((spool) => spool.setMeta('daemon', JSON.stringify({ pid: 4711, beatAt: Date.now(), version: '0.0.1' }))),
  },
  {
    name: 'the daemon hangs',
    check: 'daemon',
    outcome: 'warning',
    sentence: /has not reached the service for 3 hours/,
    fix: /^kill 4711/,
    arrange: ({ inSpool }) =>
      inSpool((spool) => spool.setMeta('daemon', JSON.stringify({ pid: 4711, beatAt: Date.now() - 3 * HOUR_MS }))),
  },
  {
    name: 'the service manager has given up',
    check: 'supervisor',
    outcome: 'failed',
    sentence: /session-capture\.service is failed \(exit-code, exit code 4\)/,
    fix: /^capture init --yes {3}# journalctl/,
    arrange({ state, home }) {
      setUpAs(state, 'systemd');
      const said = 'ActiveState=failed\\nResult=exit-code\\nExecMainStatus=4\\n';
      write(join(home, 'programs/systemctl'), `#!/bin/sh\nprintf '${said}'\n`, 0o755);
    },
    variables: ({ home }) => ({ PATH: join(home, 'programs') }),
  },
  {
    name: 'the program that the daemon is started from is gone',
    check: 'supervisor',
    outcome: 'failed',
    sentence: /^The daemon is started from \/nowhere\/node, which is gone\./,
    fix: /^capture init --yes$/,
    arrange: ({ state }) =>
      write(join(state, 'setup.json'), JSON.stringify({ starter: 'hook', program: ['/nowhere/node'] })),
  },
  {
    name: 'the service manager starts another program',
    check: 'supervisor',
    outcome: 'warning',
    sentence: /session-capture\.service does not start this program/,
    fix: /^capture init --yes$/,
    arrange({ state, home }) {
      setUpAs(state, 'systemd');
      write(join(home, 'programs/systemctl'), '#!/bin/sh\necho ActiveState=active\n', 0o755);
    },
    variables: ({ home }) => ({ PATH: join(home, 'programs') }),
  },
  {
    name: 'it is paused',
    check: 'pause',
    outcome: 'warning',
    sentence: /paused until 20/,
    fix: /^capture resume$/,
    arrange: ({ capture }) => capture(['pause', '--for', '1h']),
  },
  {
    name: 'a second daemon runs in the usual folder',
    check: 'state-folders',
    outcome: 'failed',
    sentence: /second daemon/,
    fix: /CAPTURE_HOME/,
    arrange({ home }) {
      const lock = takeLock(join(home, '.capture'), 'run');
      onTestFinished(() => lock?.release());
    },
  },
  {
    name: 'a daemon elsewhere captures this home',
    check: 'state-folders',
    outcome: 'failed',
    sentence: /Another daemon captures this home/,
    fix: /CAPTURE_HOME/,
    arrange({ endDaemon, home }) {
      endDaemon();
      const claim = claimHome({ home }, { id: 'org_1 live', plane: 'live' });
      onTestFinished(() => claim?.release());
    },
  },
];

testScenarios(SCENARIOS);
