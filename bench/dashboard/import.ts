import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '../../contract/client.ts';
import { REPOSITORY } from '../../dashboard/e2e/harness/folders.ts';

/** Folders of real transcripts with their agents: `claude-code=FOLDER:codex=FOLDER`. */
const FOLDERS = (process.env.BENCH_TRANSCRIPTS ?? '').split(':').filter(Boolean);

/** Captures the samples and the transcripts in `BENCH_TRANSCRIPTS` with the command line. */
export async function importTranscripts(folder: string, url: string, secret: string, owner: Client): Promise<void> {
  const home = join(folder, 'home');
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, CAPTURE_HOME: join(home, 'capture') },
    ...{ CAPTURE_URL: url, CAPTURE_SECRET: secret },
    CLAUDE_CONFIG_DIR: join(REPOSITORY, 'samples/claude-code'),
    CODEX_HOME: join(REPOSITORY, 'samples/codex'),
  };
  const named = FOLDERS.map((each) => ['--agent', ...each.split('=')]);
  for (const paths of [[], ...named]) {
    await promisify(execFile)(process.execPath, [join(REPOSITORY, 'cli/main.ts'), 'import', '--quiet', ...paths], {
      env,
      maxBuffer: 64 * 1024 * 1024,
    });
  }
  for (;;) {
    const { body } = await owner.searchSessions({ query: { q: 'the' } });
    if (!body.catchingUp) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
