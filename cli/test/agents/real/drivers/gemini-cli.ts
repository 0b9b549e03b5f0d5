import { join } from 'node:path';
import { type Driver, packageFile, writeJson } from '../driver.ts';

export const geminiCli: Driver = {
  agent: 'gemini-cli',
  package: '@google/gemini-cli',
  prepare({ home }) {
    writeJson(join(home, '.gemini/settings.json'), {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { disableAutoUpdate: true, disableUpdateNag: true },
      privacy: { usageStatisticsEnabled: false },
    });
  },
  invoke({ how, prompt }, place) {
    const target = how === 'start' ? [] : ['-r', 'latest'];
    const program = packageFile(place, '@google/gemini-cli/bundle/gemini.js');
    return {
      program: process.execPath,
      args: [program, '-m', 'gemini-2.5-flash', '--approval-mode', 'yolo', '--skip-trust', ...target, '-p', prompt],
      variables: { GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: place.modelUrl, CI: '1' },
    };
  },
  canResume: true,
  stored: '.gemini/tmp/*/chats/**/*.jsonl',
  writesPrompt: 'at once',
  forks: 'never',
};
