import type { Agent } from '../agent.ts';
import {
  identifyTask,
  isTaskFile,
  PLAIN_TASK_RECORDS,
  parserOfTasks,
  TASK_STORE,
  TASK_VARIABLES,
  taskFolders,
} from '../cline/task.ts';

/** Roo Code descends from Cline's extension, and keeps its tasks in the same way. Its input tokens include the cached ones. */
export const rooCode: Agent = {
  id: 'roo-code',
  displayName: 'Roo Code',
  variables: TASK_VARIABLES,
  roots: (variables, home) => taskFolders('rooveterinaryinc.roo-cline', variables, home),
  isTranscript: isTaskFile,
  store: TASK_STORE,
  plainRecords: PLAIN_TASK_RECORDS,
  hasLocalIds: true,
  identify: identifyTask,
  recordKey: () => undefined,
  parse: parserOfTasks('roo-code', 'included'),
};
