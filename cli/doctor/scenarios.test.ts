import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Context } from '../context.ts';
import { claimHome } from '../daemon/same-home.ts';
import { takeLock } from '../lock.ts';
import { type Machine, setUpMachine } from '../test/doctor.ts';
import { write } from '../test/folder.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import type { DoctorOptions } from './facts.ts';
import type { Outcome } from './finding.ts';

interface Scenario {
  name: string;
  check: string;
  outcome: Outcome;
  sentence: RegExp;
  fix: RegExp;
  arrange?(machine: Machine): unknown;
  context?(machine: Machine): Partial<Context>;
  options?: DoctorOptions;
  variables?(machine: Machine): Record<string, string>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const settings = (home: string) => join(home, '.claude/settings.json');
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(path, change(readFileSync(path, 'utf8')));
const addSetting = (home: string, setting: string) =>
  edit(settings(home), (text) => text.replace('{', `{ ${setting}, `));
const age = (path: string, ms: number) => utimesSync(path, new Date(Date.now() - ms), new Date(Date.now() - ms));
const setUpAs = (state: string, starter: string) => write(join(state, 'setup.json'), JSON.stringify({ starter }));

/** A transcript that was not captured, last written so long ago. */
function leave({ home }: Machine, session: number, ms: number, cwd = join(home, 'shop')): string {
  const path = join(home, '.claude/projects/shop', `${sessionId(session)}.jsonl`);
  write(path, `${prompt(session, 0, 'left', { cwd })}\n`);
  age(path, ms);
  return path;
}

/** An event that waits since then. */
const wait = ({ inSpool }: Machine, ms: number, bytes = 100) =>
  inSpool((spool) => {
    const batch = { session: 1, key: 'k', events: 1, firstAt: undefined, encoding: 'identity' };
    spool.batches.add({ ...batch, body: Buffer.alloc(bytes), records: Buffer.alloc(0), madeAt: Date.now() - ms });
  });

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
  {
    name: 'an agent has no hooks',
    check: 'agents',
    outcome: 'warning',
    sentence: /^Qwen Code is installed, and has no hooks/,
    fix: /^capture init --agent qwen-code$/,
    arrange: ({ home }) => mkdirSync(join(home, '.qwen')),
  },
  {
    name: 'some of the hooks were taken out',
    check: 'agents',
    outcome: 'warning',
    sentence: /^Claude Code: some of its hooks/,
    fix: /^capture init --agent claude-code$/,
    arrange: ({ home }) => edit(settings(home), (text) => text.replace('"Stop"', '"Other"')),
  },
  {
    name: 'the settings are broken',
    check: 'agents',
    outcome: 'failed',
    sentence: /cannot be read as what it should be/,
    fix: /^Correct the file/,
    arrange: ({ home }) => write(settings(home), '{"hooks":'),
  },
  {
    name: 'the hook’s script is gone',
    check: 'agents',
    outcome: 'failed',
    sentence: /its hooks run .*state\/bin\/hook, which is not there/,
    fix: /^capture init --agent claude-code$/,
    arrange: ({ state }) => rmSync(join(state, 'bin/hook')),
  },
  {
    name: 'hooks of a folder that was deleted are left',
    check: 'agents',
    outcome: 'failed',
    sentence: /its hooks run .*\/gone away\/bin\/hook, which is not there any more/,
    fix: /^Take the entries/,
    arrange: ({ home, state }) =>
      edit(settings(home), (text) => text.replaceAll(`${state}/bin/hook`, `'${home}/gone away/bin/hook'`)),
  },
  {
    name: 'hooks ring for another state folder',
    check: 'agents',
    outcome: 'warning',
    sentence: /also ring for another state folder/,
    fix: /^CAPTURE_HOME=.*other capture uninstall$/,
    arrange({ home, state }) {
      write(join(home, 'other/bin/hook'), '#!/bin/sh\n', 0o755);
      edit(settings(home), (text) => text.replace(`${state}/bin/hook claude`, `${home}/other/bin/hook claude`));
    },
  },
  {
    name: 'Codex does not trust the hooks',
    check: 'agents',
    outcome: 'warning',
    sentence: /^Codex: its hooks do not run until it is told to trust them/,
    fix: /^capture init --agent codex {3}# or \/hooks/,
    async arrange({ home, capture }) {
      mkdirSync(join(home, '.codex'));
      await capture(['init', '--yes', '--no-daemon', '--no-trust']);
    },
  },
  {
    name: 'the person has switched hooks off',
    check: 'agents',
    outcome: 'warning',
    sentence: /hooks do not run, since "disableAllHooks" is set in .*settings\.json/,
    fix: /^Take that setting out/,
    arrange: ({ home }) => addSetting(home, '"disableAllHooks": true'),
  },
  {
    name: 'a policy has switched hooks off',
    check: 'agents',
    outcome: 'warning',
    sentence: /"allowManagedHooksOnly" is set in .*managed-settings\.json/,
    fix: /setting/,
    arrange: ({ home }) =>
      write(join(home, 'root/etc/claude-code/managed-settings.json'), '{"allowManagedHooksOnly": true}'),
  },
  {
    name: 'hooks have not rung although the agent has written',
    check: 'agents',
    outcome: 'warning',
    sentence: /its hooks last rang 3 hours ago, though it has written since/,
    fix: /^End Claude Code and start it anew/,
    arrange({ state }) {
      age(write(join(state, 'notes/claude-code'), ''), 3 * HOUR_MS);
      age(join(state, 'hooks/claude-code.json'), 9 * HOUR_MS);
    },
  },
  {
    name: 'the agent is about to delete what is not captured',
    check: 'agents',
    outcome: 'failed',
    sentence:
      /deletes transcripts after 30 days \(cleanupPeriodDays\), and 2 transcripts that .* the oldest is 28 days old/,
    fix: /^capture import$/,
    arrange(machine) {
      leave(machine, 2, 28 * DAY_MS);
      leave(machine, 3, 25 * DAY_MS);
      leave(machine, 4, 2 * DAY_MS);
    },
  },
  {
    name: 'the agent keeps no transcripts',
    check: 'agents',
    outcome: 'failed',
    sentence: /keeps no transcripts, since cleanupPeriodDays is 0/,
    fix: /^Set "cleanupPeriodDays"/,
    arrange: ({ home }) => addSetting(home, '"cleanupPeriodDays": 0'),
  },
  {
    name: 'transcripts are not read',
    check: 'reading',
    outcome: 'warning',
    sentence: /^1 transcript of 2 has something that was not captured yet, the oldest for 2 days/,
    fix: /^capture import$/,
    arrange: (machine) => leave(machine, 2, 2 * DAY_MS),
  },
  {
    name: 'a transcript cannot be read',
    check: 'readable',
    outcome: 'failed',
    sentence: /^1 file or folder of Claude Code cannot be read/,
    fix: /^chmod/,
    // A link to itself: nobody can open it, whatever their rights are.
    arrange({ home }) {
      const name = `${sessionId(2)}.jsonl`;
      symlinkSync(name, join(home, '.claude/projects/shop', name));
    },
  },
  {
    name: 'a folder cannot be watched',
    check: 'watching',
    outcome: 'warning',
    sentence: /gives no notice of changes in .*: ENOSPC/,
    fix: /max_user_watches/,
    options: {
      watchFolder() {
        throw new Error('ENOSPC: System limit for number of file watchers reached');
      },
    },
  },
  {
    name: 'sessions are left out',
    check: 'left-out',
    outcome: 'ok',
    sentence: /^1 transcript left out, as was asked for/,
    fix: /^$/,
    arrange(machine) {
      leave(machine, 2, 0, join(machine.home, 'private'));
      write(join(machine.state, 'preferences.json'), JSON.stringify({ exclude: ['~/private'] }));
    },
  },
  {
    name: 'a folder’s own file cannot be understood',
    check: 'left-out',
    outcome: 'warning',
    sentence: /cannot be understood/,
    fix: /\{"capture": true\}/,
    arrange(machine) {
      leave(machine, 2, 0, join(machine.home, 'private'));
      write(join(machine.home, 'private/.session-capture.json'), '{"capture": "maybe"}');
    },
  },
  {
    name: 'the preferences are wrong',
    check: 'preferences',
    outcome: 'failed',
    sentence: /preferences\.json: "exlude" is no setting\. Nothing is captured/,
    fix: /^Correct the file/,
    arrange: ({ state }) => write(join(state, 'preferences.json'), '{"exlude": []}'),
  },
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
    fix: /^capture spool export .* && capture spool drop --refused$/,
    arrange: ({ inSpool }) => inSpool((spool) => spool.batches.refuse(1, '{}', 'too odd', Date.now())),
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

test('where all is well, nothing is failed and nothing warned of', async () => {
  const { examine } = await setUpMachine();
  const examined = await examine();
  expect(examined.filter(({ outcome }) => outcome === 'failed' || outcome === 'warning')).toEqual([]);
  // Every check there is, so that none is left without a scenario in which it fails.
  const known = new Set([...SCENARIOS.map(({ check }) => check), 'absent']);
  expect(new Set(examined.map(({ check }) => check))).toEqual(known);
});

test.each(SCENARIOS)('$name', async ({ check, outcome, sentence, fix, arrange, context, options, variables }) => {
  const machine = await setUpMachine();
  await arrange?.(machine);
  const examined = await machine.examine(context?.(machine), options, variables?.(machine));
  const found = examined.filter((one) => one.check === check && one.outcome === outcome);
  expect(found.map((one) => one.sentence)).toEqual([expect.stringMatching(sentence)]);
  expect(found[0]?.fix ?? '').toMatch(fix);
});
