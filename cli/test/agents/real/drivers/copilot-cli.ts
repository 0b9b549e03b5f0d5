import { type Driver, packageFile } from '../driver.ts';

export const copilotCli: Driver = {
  agent: 'copilot-cli',
  package: '@github/copilot',
  prepare() {},
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : [`--resume=${session}`];
    return {
      program: packageFile(place, '@github/copilot-linux-x64/copilot'),
      args: [...target, '-p', prompt, '--allow-all-tools', '--disable-builtin-mcps'],
      variables: {
        COPILOT_OFFLINE: 'true',
        COPILOT_AUTO_UPDATE: 'false',
        COPILOT_PROVIDER_BASE_URL: `${place.modelUrl}/v1`,
        COPILOT_MODEL: 'scripted',
        COPILOT_PROVIDER_API_KEY: 'dummy',
      },
    };
  },
  canResume: true,
  stored: '.copilot/session-state/*/events.jsonl',
  writesPrompt: 'at once',
  forks: 'never',
};
