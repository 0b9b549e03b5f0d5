import { execFileSync } from 'node:child_process';
import { type Driver, type Place, packageFile } from '../driver.ts';

const ENVIRONMENT = { CLINE_TELEMETRY_DISABLED: '1', CI: '1', TERM: 'dumb' };

const programOf = (place: Place) => packageFile(place, '@cline/cli-linux-x64/bin/cline');

export const cline: Driver = {
  agent: 'cline',
  package: 'cline',
  prepare(place) {
    const { home, modelUrl } = place;
    const model = ['-p', 'openai-compatible', '-k', 'dummy', '-m', 'scripted', '-b', `${modelUrl}/v1`];
    const env = { ...ENVIRONMENT, HOME: home, PATH: '/usr/bin:/bin' };
    execFileSync(programOf(place), ['auth', ...model], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  },
  invoke({ prompt }, place) {
    return {
      program: programOf(place),
      args: ['-P', 'openai-compatible', '-m', 'scripted', '--json', prompt],
      variables: ENVIRONMENT,
    };
  },
  // It can resume a session only in its terminal interface.
  canResume: false,
  stored: '.cline/data/sessions/*/*.json',
  writesPrompt: 'when interrupted',
  forks: 'never',
};
