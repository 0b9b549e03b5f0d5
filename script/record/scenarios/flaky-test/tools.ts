import { claudeTools } from '../../tools.ts';

export const tools = claudeTools('/home/dev/code/backlog');

/** With colours on purpose, since the dashboard must handle them. */
export const suite = tools.bash('FORCE_COLOR=1 node --run test', 'Run the test suite');
