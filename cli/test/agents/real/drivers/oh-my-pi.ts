import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Driver, packageFile } from '../driver.ts';

export const ohMyPi: Driver = {
  agent: 'oh-my-pi',
  package: '@oh-my-pi/pi-coding-agent',
  prepare({ home, modelUrl }) {
    const folder = join(home, '.omp/agent');
    mkdirSync(folder, { recursive: true });
    const model = {
      ...{ id: 'scripted', name: 'Scripted', reasoning: false, input: ['text'], contextWindow: 128_000 },
      ...{ maxTokens: 4096, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
    };
    const scripted = { baseUrl: `${modelUrl}/v1`, api: 'openai-completions', apiKey: 'dummy', models: [model] };
    // JSON is YAML.
    writeFileSync(join(folder, 'models.yml'), `${JSON.stringify({ providers: { scripted } })}\n`);
  },
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : [`--resume=${session}`];
    const program = packageFile(place, '@oh-my-pi/pi-coding-agent/dist/cli.js');
    return {
      program: packageFile(place, '@oven/bun-linux-x64/bin/bun'),
      args: [program, '--model', 'scripted/scripted', '--auto-approve', '--no-title', ...target, '-p', prompt],
      variables: { PI_OFFLINE: '1' },
    };
  },
  canResume: true,
  stored: '.omp/agent/sessions/**/*.jsonl',
  writesPrompt: 'when interrupted',
  forks: 'never',
};
