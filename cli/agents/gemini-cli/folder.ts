import type { JsonObject } from '../agent.ts';
import { elementsAt } from '../reader.ts';
import { type Path, remainderOf } from '../remainder.ts';
import { peekText } from '../typed.ts';
import { textsAt } from './user.ts';

/** The first folder of the workspace, which the context at the start tells the model, and nothing else. */
export function folderOf(record: JsonObject): string | undefined {
  const remainder = remainderOf(record);
  const messages: Path[] = [[], ...elementsAt(remainder, '$set', 'messages').slice(0, 1)];
  const texts = messages.flatMap((at) => textsAt(remainder, ...at, 'content')).slice(0, 4);
  for (const at of texts) {
    const [, listed, named] = FOLDERS.exec(peekText(remainder, ...at)?.slice(0, 4000) ?? '') ?? [];
    const folder = (listed ?? named)?.trim();
    if (folder) return folder;
  }
  return undefined;
}

/** As several versions have put it. */
const FOLDERS =
  /^\s*(?:<session_context>\s*)?This is the Gemini CLI\.[\s\S]*?(?:(?:Workspace Directories:\*\*|following directories:)\s*\n\s*- ([^\n]+)|working in the directory: ([^\n]+))/;
