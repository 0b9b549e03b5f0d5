import type { Agent } from './agent.ts';
import type { Dialect } from './cline/parse.ts';
import { identifyTask, isTaskFile } from './cline-extension/origin.ts';
import { parseTask } from './cline-extension/parse.ts';
import { isTaskUnsettled, splitTask } from './cline-extension/split.ts';
import { TASK_VARIABLES, taskFolders } from './cline-extension/user-folders.ts';
import { documentOf } from './document.ts';

interface Extension extends Dialect {
  displayName: string;
  /** As its publisher named it. */
  name: string;
}

/** What descends from Cline's extension keeps its tasks as that did: see `cline-extension/parse.ts`. */
const createExtension = ({ displayName, name, ...dialect }: Extension): Agent => ({
  id: dialect.agent,
  displayName,
  variables: TASK_VARIABLES,
  roots: (variables, home) => taskFolders(name, variables, home),
  isTranscript: isTaskFile,
  store: {
    kind: 'document',
    split: (text) => splitTask(documentOf(text)),
    isUnsettled: isTaskUnsettled,
  },
  identify: identifyTask,
  recordKey: () => undefined,
  parse: (record, place) => parseTask(dialect, record, place),
});

/** The tokens that it writes down include those that came from the cache. */
export const rooCode = createExtension({
  agent: 'roo-code',
  displayName: 'Roo Code',
  name: 'rooveterinaryinc.roo-cline',
  cached: 'included',
});

/** The extension as it was before it became a front of the command line, whose id it shares. */
export const kiloExtension = createExtension({
  agent: 'kilo',
  displayName: 'Kilo Code 4',
  name: 'kilocode.kilo-code',
  cached: 'excluded',
});
