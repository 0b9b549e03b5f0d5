import { basename, dirname, join } from 'node:path';
import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

/** `claude_messages.json` is what the first versions called the history. */
const TASK_FILE = /(^|\/)(ui_messages|api_conversation_history|claude_messages|task_metadata|history_item)\.json$/;

export const isTaskFile = (path: string): boolean => TASK_FILE.test(path);

/** A task's folder is named after it. */
export function identifyTask({ root, path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const item = remainderOf(first ?? {});
  const cwd = peekWords(item, 'workspace');
  return { session: basename(dirname(join(root, path))), ...(cwd !== undefined && { cwd }) };
}
