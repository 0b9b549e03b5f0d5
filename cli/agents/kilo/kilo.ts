import type { Agent } from '../agent.ts';
import { identifyTask, isTaskFile, parserOfTasks, TASK_STORE, TASK_VARIABLES, taskFolders } from '../cline/task.ts';
import { createOpenCode } from '../opencode/opencode.ts';

const program = createOpenCode({ id: 'kilo', displayName: 'Kilo Code', name: 'kilo', variable: 'KILO_DB' });
const parseTask = parserOfTasks('kilo', 'excluded');

/**
 * Kilo's command line is built on OpenCode, and keeps its sessions as that does. Before, it was an extension that descended
 * from Cline's, and kept its tasks as that did.
 */
export const kilo: Agent = {
  ...program,
  variables: [...(program.variables ?? []), ...TASK_VARIABLES.filter((name) => !program.variables?.includes(name))],
  roots: (variables, home) => [
    ...program.roots(variables, home),
    ...taskFolders('kilocode.kilo-code', variables, home),
  ],
  isTranscript: (path) => isTaskFile(path) || program.isTranscript(path),
  // A task's folder is named after its time or by a UUID; the program's data folder has none of such.
  entersFolder: (path) => /^(\d{13}|[\da-f-]{36})$/.test(path),
  store: (path) => (isTaskFile(path) ? TASK_STORE : program.store(path)),
  // Those of tasks are times.
  hasLocalIds: true,
  identify: (file, first) => (isTaskFile(file.path) ? identifyTask(file, first) : program.identify(file, first)),
  parse: (record, place) => (isTaskFile(place.file) ? parseTask : program.parse)(record, place),
};
