import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { age, DAY_MS, HOUR_MS, leave, type Scenario, testScenarios } from '../../test/doctor.ts';
import { write } from '../../test/folder.ts';

const settings = (home: string) => join(home, '.claude/settings.json');
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(path, change(readFileSync(path, 'utf8')));
const addSetting = (home: string, setting: string) =>
  edit(settings(home), (text) => text.replace('{', `{ ${setting}, `));

const SCENARIOS: Scenario[] = [
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
];

testScenarios(SCENARIOS);
