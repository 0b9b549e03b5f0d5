import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Driver, packageFile } from '../driver.ts';

export const codex: Driver = {
  agent: 'codex',
  package: '@openai/codex',
  prepare({ home, modelUrl }) {
    mkdirSync(join(home, '.codex'), { recursive: true });
    writeFileSync(join(home, '.codex/config.toml'), configuration(modelUrl));
  },
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : [how];
    return {
      program: packageFile(place, '@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex'),
      args: ['exec', ...target, '--json', '--skip-git-repo-check', ...(how === 'start' ? [] : [session]), prompt],
      variables: { MODEL_KEY: 'dummy' },
    };
  },
  canResume: true,
  stored: '.codex/sessions/**/*.jsonl',
  writesPrompt: 'at once',
  forks: 'same ids',
};

const configuration = (url: string) => `model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${url}/v1"
wire_api = "responses"
env_key = "MODEL_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
