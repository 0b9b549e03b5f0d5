import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder, write } from '../test/folder.ts';
import { run } from '../test/program.ts';
import { startService } from '../test/service.ts';
import { prompt, sessionId } from '../test/transcripts.ts';

/** A person with two accounts, each with a folder of Claude Code and one session. */
async function setUp(variables: Record<string, string> = {}) {
  const service = await startService();
  onTestFinished(service.stop);
  const home = makeFolder();
  for (const [session, folder] of [
    [1, '.claude'],
    [2, '.claude-work'],
  ] as const) {
    write(join(home, folder, 'projects/shop', `${sessionId(session)}.jsonl`), `${prompt(session, 0, folder)}\n`);
  }
  write(join(home, '.claude-work/.credentials.json'), '{"token":"Rudbeckia-4711-xq"}');
  const options = { home, url: service.url, secret: 'sk_live_test', variables };
  return {
    home,
    capture: (...args: string[]) => run(args, options),
    prefer: (preferences: object) => write(join(home, 'state/preferences.json'), JSON.stringify(preferences)),
    arrived: () => JSON.stringify([...service.state.sessions.values()]),
  };
}

test('further folders that a person names are captured, and their credentials are masked', async () => {
  const { home, capture, prefer, arrived } = await setUp();
  prefer({ folders: { 'claude-code': ['~/.claude-work'] } });
  const file = join(home, '.claude/projects/shop', `${sessionId(3)}.jsonl`);
  write(file, `${prompt(3, 0, 'the word is Rudbeckia-4711-xq')}\n`);
  expect((await capture('import')).stdout).toContain('Captured 3 records');
  expect(arrived()).toContain('.claude-work');
  expect(arrived()).not.toContain('Rudbeckia');
  expect((await capture('verify')).stdout).toContain('3 records of 3 sessions: all there');
});

test('a variable may list several folders', async () => {
  const { home, capture } = await setUp();
  const variables = { CLAUDE_CONFIG_DIR: `${join(home, '.claude')}, ${join(home, '.claude-work')}` };
  const { stdout } = await run(['import', '--dry-run'], { home, variables });
  expect(stdout).toContain('2 files of 2 sessions');
  expect((await capture('import', '--dry-run')).stdout).toContain('1 file of 1 session');
});

test("a folder below another system's drive is captured, with sessions that worked in folders of that system", async () => {
  const { home, capture, prefer, arrived } = await setUp();
  const folder = join(home, 'mnt/c/Users/Ada Lovelace/.claude');
  const cwd = 'C:\\Users\\Ada Lovelace\\shop';
  write(join(folder, 'projects/shop', `${sessionId(4)}.jsonl`), `${prompt(4, 0, 'from the other system', { cwd })}\n`);
  prefer({ folders: { 'claude-code': [folder] } });
  expect((await capture('import')).stdout).toContain('Captured 2 records');
  expect(arrived()).toContain('from the other system');
});

/** Paths of Windows, which mean nothing on another system. */
const FOREIGN = process.platform === 'win32' ? [] : ['C:\\Users\\ada\\.claude', '\\\\wsl$\\Debian\\home\\ada\\.claude'];

test.each<[preferences: object, problem: string]>([
  [{ folders: ['~/.claude-work'] }, '"folders" must be an object'],
  [{ folders: { claude: ['~/.claude-work'] } }, '"folders" "claude" is not a setting'],
  [{ folders: { 'claude-code': ['work'] } }, '"claude-code" must be a list of folders'],
  ...FOREIGN.map((folder): [object, string] => [{ folders: { 'claude-code': [folder] } }, `such as "~/.claude-work"`]),
])('folders that are named as %j are refused', async (preferences, problem) => {
  const { capture, prefer } = await setUp();
  prefer(preferences);
  expect(await capture('import')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(problem) });
});
