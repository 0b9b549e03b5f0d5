import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Machine, setUpMachine } from '../test/doctor.ts';
import { write } from '../test/folder.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

const status = async ({ capture }: Machine) => (await capture(['status'])).stdout;

test('where all is well it is short, and nothing is to be done', async () => {
  const machine = await setUpMachine();
  machine.service.state.publicUrl = 'https://capture.example.com';
  machine.inSpool((spool) => {
    spool.setMeta('daemon', JSON.stringify({ pid: 4711, beatAt: Date.now(), version: '0.1.0' }));
  });
  expect((await status(machine)).split('\n')).toEqual([
    `Service       ${machine.service.url}, reachable`,
    'Signed in     Acme, live plane',
    'Dashboard     https://capture.example.com/',
    'Daemon        running for less than a minute (0.1.0)',
    'Hooks         installed for Claude Code',
    expect.stringMatching(/^Claude Code {3}1 transcript \(\d+ B\), 2 events of 1 session sent$/),
    'Spool         empty: all is sent',
    'Last upload   less than a minute ago',
    '',
  ]);
});

/** What is done to a machine on which all is well, a line that then is shown, and the command to run next. */
const CASES: [name: string, arrange: (machine: Machine) => unknown, line: RegExp, next: string | undefined][] = [
  ['signed out', ({ capture }) => capture(['logout']), /^Signed in {5}no$/m, 'capture login'],
  ['paused', ({ capture }) => capture(['pause']), /^Paused {8}until `capture resume`$/m, 'capture resume'],
  ['a pause with an end', ({ capture }) => capture(['pause', '--for', '1h']), /^Paused {8}until 20/m, 'capture resume'],
  [
    'never set up',
    ({ endDaemon, state }) => {
      endDaemon();
      for (const name of ['setup.json', 'daemon.pid']) rmSync(join(state, name));
    },
    /^Daemon {8}not running/m,
    'capture init',
  ],
  [
    'not running',
    ({ endDaemon, state }) => {
      endDaemon();
      rmSync(join(state, 'daemon.pid'));
    },
    /^Daemon {8}not running, `capture run` starts it$/m,
    'capture run',
  ],
  ['crashed', ({ endDaemon }) => endDaemon(), /^Daemon {8}ended without saying so/m, 'capture doctor'],
  [
    'an agent without hooks',
    ({ home }) => mkdirSync(join(home, '.qwen')),
    /^Hooks {9}installed for Claude Code; missing for Qwen Code$/m,
    'capture init',
  ],
  [
    'hooks that do not run',
    ({ home }) => write(join(home, '.copilot/settings.json'), '{"disableAllHooks": true}'),
    /^Hooks {9}installed for Claude Code; missing for Copilot CLI$/m,
    'capture init',
  ],
  [
    'hooks that were changed',
    ({ home }) => writeFileSync(join(home, '.claude/settings.json'), '{'),
    /^Hooks {9}unreadable for Claude Code$/m,
    'capture doctor',
  ],
  [
    'something left out, and something not read',
    ({ home, state }) => {
      for (const [session, folder] of ['shop', 'private', 'private'].entries()) {
        const path = join(home, '.claude/projects/shop', `${sessionId(session + 2)}.jsonl`);
        write(path, `${prompt(session + 2, 0, 'left', { cwd: join(home, folder) })}\n`);
      }
      write(join(state, 'preferences.json'), '{"exclude": ["~/private"]}');
    },
    /^Not read yet {2}1 transcript, the oldest for less than a minute\nLeft out {6}2 transcripts: "~\/private" is excluded$/m,
    undefined,
  ],
  [
    'wrong preferences',
    ({ state }) => write(join(state, 'preferences.json'), '{"a": 1}'),
    /^Preferences {3}.*"a" is no setting$/m,
    'capture doctor',
  ],
  [
    'a refused event and a withheld record',
    ({ inSpool }) =>
      inSpool((spool) => {
        spool.refused.add({ session: 1, event: '{}', problem: 'too odd', refusedAt: 0 });
        spool.count('recordsWithheld');
      }),
    /^ {14}1 records withheld.*\nRefused {7}1 event: too odd$/m,
    'capture doctor',
  ],
  ['a service that is down', ({ service }) => service.stop(), /^Service .*, NOT reachable$/m, 'capture doctor'],
];

test.each(CASES)('%s', async (_name, arrange, line, next) => {
  const machine = await setUpMachine();
  await arrange(machine);
  const shown = await status(machine);
  expect(shown).toMatch(line);
  expect(/\n\nNext: (.*)\n$/.exec(shown)?.[1]).toBe(next);
  expect(JSON.parse((await machine.capture(['status', '--json'])).stdout).next).toBe(next);
});

test('what is in the spool is told with its cap', async () => {
  const machine = await setUpMachine();
  machine.inSpool((spool) => {
    spool.batches.add({ session: 1, key: 'k', events: 3, body: Buffer.alloc(100), madeAt: Date.now() });
  });
  expect(await status(machine)).toContain('Spool         3 events (100 B of 1.0 GB) waiting, the oldest for less');
});
