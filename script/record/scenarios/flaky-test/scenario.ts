/** Claude Code finds out why a test fails now and then; the longest story, told over two processes. */
import { backlog } from '../../projects/backlog.ts';
import type { Scenario } from '../../scenario.ts';
import { commit, pauseAndResume, respectTheCap } from './cap-and-pause.ts';
import { findTheCause } from './find-the-cause.ts';

export const flakyTest: Scenario = {
  name: 'flaky-test',
  agent: 'claude-code',
  model: 'claude-sonnet-5-5',
  project: backlog,
  environment: { CLAUDE_CODE_ENABLE_TASKS: '0' },
  runs: [
    { how: 'start', turns: [findTheCause, respectTheCap, pauseAndResume] },
    { how: 'resume', turns: [{ ...commit, pause: 15 }] },
  ],
};
