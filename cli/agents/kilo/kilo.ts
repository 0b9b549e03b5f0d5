import type { Agent } from '../agent.ts';
import { withTasks } from '../cline/task.ts';
import { createOpenCode } from '../opencode/opencode.ts';

const program = createOpenCode('kilo', 'Kilo Code', 'KILO_DB');

/**
 * Kilo's command line is built on OpenCode, and keeps its sessions in the same way. Before, Kilo was an extension that
 * descended from Cline's, and kept its tasks as that did.
 */
export const kilo: Agent = {
  ...withTasks(program, 'kilocode.kilo-code', 'excluded'),
  // A task's folder is named after its time or by a UUID. The program's data folder has no such names.
  entersFolder: (path) => /^(\d{13}|[\da-f-]{36})$/.test(path),
};
