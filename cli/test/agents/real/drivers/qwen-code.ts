import { join } from 'node:path';
import { type Driver, packageFile, writeJson } from '../driver.ts';

export const qwenCode: Driver = {
  agent: 'qwen-code',
  package: '@qwen-code/qwen-code',
  prepare({ home }) {
    writeJson(join(home, '.qwen/settings.json'), {
      security: { auth: { selectedType: 'openai' } },
      general: { enableAutoUpdate: false, disableAutoUpdate: true },
      privacy: { usageStatisticsEnabled: false },
    });
  },
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : ['-r', session, ...(how === 'fork' ? ['--fork-session'] : [])];
    const program = packageFile(place, '@qwen-code/qwen-code/cli-entry.js');
    return {
      program: process.execPath,
      args: [program, '--auth-type', 'openai', '--approval-mode', 'yolo', ...target, '-p', prompt],
      variables: {
        OPENAI_API_KEY: 'dummy',
        OPENAI_BASE_URL: `${place.modelUrl}/v1`,
        OPENAI_MODEL: 'scripted',
        CI: '1',
      },
    };
  },
  canResume: true,
  stored: '.qwen/projects/*/chats/*.jsonl',
  writesPrompt: 'at once',
  forks: 'same ids',
};
