/** Drives Codex: one `codex exec` per prompt; the second and later ones resume the thread. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Place } from './claude-code.ts';
import type { Run, Scenario, Turn } from './scenario.ts';
import { environment } from './workspace.ts';

export async function recordCodex(scenario: Scenario, place: Place): Promise<void> {
  await mkdir(join(place.home, '.codex'), { recursive: true });
  await writeFile(join(place.home, '.codex', 'config.toml'), configuration(scenario, place.model.url));
  let thread: string | undefined;
  for (const run of scenario.runs) {
    for (const [index, turn] of run.turns.entries()) {
      await sleep((turn.pause ?? 0) * 1000);
      place.model.expect(turn.steps);
      const how = index === 0 ? run.how : 'resume';
      thread = await recordTurn(turn, how, thread, place);
    }
  }
}

function configuration(scenario: Scenario, url: string): string {
  return `model = "${scenario.model}"
model_provider = "scripted"
model_reasoning_summary = "detailed"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[tools.update_plan]
enabled = true

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}

async function recordTurn(turn: Turn, how: Run['how'], thread: string | undefined, place: Place): Promise<string> {
  const command = how === 'start' ? ['exec'] : ['exec', how];
  const settings = (turn.settings ?? []).flatMap((setting) => ['--config', setting]);
  const pictures = (turn.images ?? []).flatMap((path) => ['--image', path]);
  const target = how === 'start' || !thread ? [] : [thread];
  const child = spawn(place.binary, [...command, '--json', ...settings, ...pictures, '--', ...target, turn.prompt], {
    cwd: place.folder,
    env: environment(place.home, { OPENAI_API_KEY: 'dummy' }),
    // With any other standard input, Codex waits for more of the prompt.
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  let current = thread ?? '';
  for await (const line of createInterface({ input: child.stdout })) {
    const event = JSON.parse(line) as { type: string; thread_id?: string; message?: string };
    if (event.type === 'thread.started' && event.thread_id) current = event.thread_id;
    if (event.type === 'error') console.error(`  Codex reports: ${event.message}`);
  }
  await exit;
  if (child.exitCode !== 0) throw new Error(`Codex ended with code ${child.exitCode}`);
  return current;
}
