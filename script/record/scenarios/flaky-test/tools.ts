import { claudeTools } from '../../tools.ts';

export const tools = claudeTools('/home/dev/code/backlog');

/** The colours are wanted: a dashboard has to cope with them. */
export const suite = tools.bash('FORCE_COLOR=1 node --run test', 'Run the test suite');
