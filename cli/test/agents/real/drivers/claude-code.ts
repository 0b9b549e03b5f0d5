import { type Driver, packageFile } from '../driver.ts';

export const claudeCode: Driver = {
  agent: 'claude-code',
  package: '@anthropic-ai/claude-code',
  prepare() {},
  invoke({ how, prompt, session }, place) {
    const target = how === 'start' ? [] : ['--resume', session, ...(how === 'fork' ? ['--fork-session'] : [])];
    return {
      program: packageFile(place, '@anthropic-ai/claude-code-linux-x64/claude'),
      args: ['--print', '--model', 'claude-opus-4-6', '--permission-mode', 'bypassPermissions', ...target, prompt],
      variables: {
        ANTHROPIC_BASE_URL: place.modelUrl,
        ANTHROPIC_API_KEY: 'dummy',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        // Without it, root may not let the agent use its tools.
        IS_SANDBOX: '1',
      },
    };
  },
  canResume: true,
  stored: '.claude/projects/**/*.jsonl',
  writesPrompt: 'at once',
  forks: 'same ids',
};
