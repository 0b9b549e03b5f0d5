import { join } from 'node:path';
import { type Driver, packageFile, writeJson } from '../driver.ts';

const driverOf = (name: string, program: string): Driver => ({
  agent: 'pi',
  package: name,
  prepare({ home, modelUrl }) {
    const model = {
      ...{ id: 'scripted', name: 'Scripted', reasoning: false, input: ['text'], contextWindow: 128_000 },
      ...{ maxTokens: 4096, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
    };
    const scripted = { baseUrl: `${modelUrl}/v1`, api: 'openai-completions', apiKey: 'dummy', models: [model] };
    writeJson(join(home, '.pi/agent/models.json'), { providers: { scripted } });
  },
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : [how === 'fork' ? '--fork' : '--session', session];
    return {
      program: process.execPath,
      args: [
        packageFile(place, `${name}/${program}`),
        '--provider',
        'scripted',
        '--model',
        'scripted',
        ...target,
        '-p',
        prompt,
      ],
      variables: { PI_OFFLINE: '1' },
    };
  },
  canResume: true,
  stored: '.pi/agent/sessions/**/*.jsonl',
  writesPrompt: 'when answered',
  forks: 'same ids',
});

export const pi = driverOf('@earendil-works/pi-coding-agent', 'dist/bundle/cli.js');
/** A version that is some months older. */
export const olderPi = driverOf('pi-older', 'dist/cli.js');
