import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS, leave, type Scenario, testScenarios } from '../../test/doctor.ts';
import { write } from '../../test/folder.ts';
import { sessionId } from '../../test/transcripts.ts';

const SCENARIOS: Scenario[] = [
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
];

testScenarios(SCENARIOS);
