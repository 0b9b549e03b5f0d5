import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openSpool } from '../spool/open.ts';
import { makeFolder, write } from '../test/folder.ts';
import { type Machine, setUpMachine, type Trouble, testTroubles } from '../test/machine.ts';
import { createContext } from '../test/program.ts';
import { placeFixtures } from '../test/real-service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';
import { findGaps } from './gaps.ts';
import { inspectTranscripts } from './transcripts.ts';

const rollout = (home: string, ending: string) =>
  write(join(home, `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${sessionId(7)}${ending}`), 'packed');

const secondAccount = ({ home }: Pick<Machine, 'home'>) =>
  write(join(home, '.claude-work/projects/shop', `${sessionId(8)}.jsonl`), `${prompt(8, 0, 'work')}\n`);

/** A database of a later version of OpenCode. With `isMoved`, its only session was taken over from the tables of before. */
function laterDatabase(home: string, isMoved = false): void {
  const path = join(home, '.local/share/opencode/opencode.db');
  mkdirSync(dirname(path), { recursive: true });
  const db = new DatabaseSync(path);
  db.exec(`CREATE TABLE session_v3 (id text PRIMARY KEY); INSERT INTO session_v3 VALUES ('ses_1')`);
  if (isMoved) {
    db.exec(`CREATE TABLE session (id text PRIMARY KEY, time_updated integer); INSERT INTO session VALUES ('ses_1', 1);
      CREATE TABLE message (id text, session_id text, time_updated integer, time_created integer);
      CREATE TABLE part (id text, session_id text, message_id text, time_updated integer);`);
  }
  db.close();
}

/** What no reader reads in a home folder. */
function unreadIn(home: string) {
  const { context } = createContext({ home });
  const spool = openSpool(':memory:');
  try {
    return findGaps(context, spool, inspectTranscripts(context, spool, true).agents, true);
  } finally {
    spool.close();
  }
}

const UNKNOWN: Trouble[] = [
  [
    'transcripts have an ending that no reader knows',
    'unknown',
    'warning',
    /^1 file of Codex with the ending \.jsonl\.gz: this version of capture cannot read them/,
    /^Install the newest version/,
    { arrange: ({ home }) => rollout(home, '.jsonl.gz') },
  ],
  [
    'a later version keeps its sessions in another table',
    'unknown',
    'warning',
    /^1 session of OpenCode in the table session_v3: /,
    /^Install the newest version/,
    { arrange: ({ home }) => laterDatabase(home) },
  ],
  [
    'another account has a folder of its own',
    'unknown',
    'warning',
    /\.claude-work contains 1 transcript of Claude Code, and is not read/,
    /^Add \{"folders":\{"claude-code":\[".*\.claude-work"\]\}\} to /,
    { arrange: secondAccount },
  ],
  [
    'an agent that is not supported has sessions',
    'unknown',
    'warning',
    /\.kimi\/sessions contains 1 file of Kimi CLI, and no reader of this version reads them: its format is not read yet\.$/,
    /^Install the newest version.* add the folder to "exclude"\.$/,
    { arrange: ({ home }) => write(join(home, '.kimi/sessions/shop/1/wire.jsonl'), '{}') },
  ],
];

describe('data of an unknown form is reported', () => testTroubles(UNKNOWN));

test('a folder that the person names or excludes is not unknown', async () => {
  const machine = await setUpMachine();
  secondAccount(machine);
  const unknown = async () => (await machine.findTroubles()).filter(({ check }) => check === 'unknown');
  expect(await unknown()).toHaveLength(1);
  write(join(machine.state, 'preferences.json'), JSON.stringify({ exclude: ['~/.claude-work'] }));
  expect(await unknown()).toEqual([]);
  write(join(machine.state, 'preferences.json'), JSON.stringify({ folders: { 'claude-code': ['~/.claude-work'] } }));
  const { stdout } = await machine.capture(['status', '--report']);
  expect(stdout).not.toContain('is not read');
});

test('verify does not say that everything is there while there is data of an unknown form', async () => {
  const { home, capture } = await setUpMachine();
  const packed = rollout(home, '.jsonl.gz');
  const { exitCode, stdout } = await capture(['verify']);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: expect.stringContaining('1 not read') });
  expect(stdout).not.toContain('all there');
  rmSync(packed);
  expect((await capture(['verify'])).stdout).toContain('all there');
});

test('nothing of the recorded sessions of all agents is of an unknown form, nor are copies and moved sessions', () => {
  const home = makeFolder();
  placeFixtures(home);
  const moved = makeFolder();
  laterDatabase(moved, true);
  rollout(home, '.jsonl.bak');
  expect(unreadIn(home)).toEqual([]);
  expect(unreadIn(moved).filter(({ kind }) => kind === 'table')).toEqual([]);
});
