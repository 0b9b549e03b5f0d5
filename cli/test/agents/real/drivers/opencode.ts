import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Driver, type Place, packageFile, writeJson } from '../driver.ts';

const ENVIRONMENT = {
  TERM: 'dumb',
  OPENCODE_DISABLE_AUTOUPDATE: '1',
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  // Without a network, it would request packages repeatedly.
  npm_config_fetch_retries: '0',
};

const programOf = (place: Place) => packageFile(place, 'opencode-linux-x64/bin/opencode');

export const opencode: Driver = {
  agent: 'opencode',
  package: 'opencode-linux-x64',
  prepare(place) {
    const { home, modelUrl } = place;
    writeJson(join(home, '.config/opencode/opencode.json'), {
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/scripted',
      small_model: 'scripted/scripted',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${modelUrl}/v1`, apiKey: 'dummy' },
          models: { scripted: { limit: { context: 128_000, output: 4096 } } },
        },
      },
    });
    // Two processes that start at once in an empty home collide when they create the database.
    const env = { ...ENVIRONMENT, HOME: home, PATH: '/usr/bin:/bin' };
    execFileSync(programOf(place), ['session', 'list'], { cwd: place.folder, env, stdio: 'ignore' });
  },
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : ['-s', session, ...(how === 'fork' ? ['--fork'] : [])];
    return {
      program: programOf(place),
      args: ['run', '--auto', ...target, prompt],
      variables: ENVIRONMENT,
    };
  },
  canResume: true,
  stored: '.local/share/opencode/opencode.db',
  writesPrompt: 'at once',
  forks: 'new ids',
};
