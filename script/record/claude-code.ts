/** Drives Claude Code: one process per run, prompts through its JSON stream on standard input. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from './model.ts';
import type { Run, Scenario, Turn } from './scenario.ts';
import { environment } from './workspace.ts';

/** Explicit tools, because the default set hides the search and to-do tools that most published sessions use. */
const TOOLS = 'Agent,Bash,Read,Edit,Write,Grep,Glob,TaskCreate,TaskUpdate,TaskList,TodoWrite';

export type Place = { binary: string; home: string; folder: string; model: Model };

export async function recordClaudeCode(scenario: Scenario, place: Place): Promise<void> {
  let session: string | undefined;
  for (const run of scenario.runs) {
    session = await recordRun(scenario, run, session, place);
  }
}

/** @returns the session's id, which is new for a fork */
async function recordRun(scenario: Scenario, run: Run, session: string | undefined, place: Place): Promise<string> {
  const { home, folder, model } = place;
  const child = spawn(place.binary, argumentsOf(scenario, run, session), {
    cwd: folder,
    env: environment(home, {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      ...scenario.environment,
    }),
  });
  child.stderr.pipe(process.stderr);
  const output = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let current = session ?? '';
  for (const turn of run.turns) {
    await sleep((turn.pause ?? 0) * 1000);
    model.expect(turn.steps);
    child.stdin.write(`${JSON.stringify(await messageOf(turn, folder))}\n`);
    // A background agent may resume the conversation after its first result.
    do current = await readUntilResult(output, child);
    while (model.pending() > 0);
  }
  child.stdin.end();
  await once(child, 'exit');
  return current;
}

function argumentsOf(scenario: Scenario, run: Run, session: string | undefined): string[] {
  const streams = ['--print', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  const resume = run.how === 'start' || !session ? [] : ['--resume', session];
  const fork = run.how === 'fork' ? ['--fork-session'] : [];
  const rights = ['--permission-mode', 'bypassPermissions'];
  return [...streams, '--model', scenario.model, ...rights, ...resume, ...fork, '--tools', TOOLS];
}

async function messageOf(turn: Turn, folder: string): Promise<object> {
  const pictures = await Promise.all(
    (turn.images ?? []).map(async (path) => ({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: await readFile(join(folder, path), 'base64') },
    })),
  );
  const content = pictures.length ? [{ type: 'text', text: turn.prompt }, ...pictures] : turn.prompt;
  return { type: 'user', message: { role: 'user', content } };
}

async function readUntilResult(lines: AsyncIterator<string>, child: ChildProcessWithoutNullStreams): Promise<string> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`Claude Code ended early with code ${child.exitCode}`);
    const event = JSON.parse(value) as { type: string; session_id: string; is_error?: boolean; result?: string };
    if (event.type !== 'result') continue;
    if (event.is_error) throw new Error(`Claude Code reports: ${event.result}`);
    return event.session_id;
  }
}
