import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';

/** `<project>/chats/session-<time>-<start of id>.jsonl`; of sub-agents `<project>/chats/<session>/<id>.jsonl`. */
export const isTranscript = (path: string): boolean => /(^|\/)chats\/.*\.jsonl?$/.test(path);

export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const [, parent, stem] = /(?:^|\/)chats\/(?:([^/]+)\/)?([^/]+)\.jsonl?$/.exec(path) ?? [];
  const id = peekWords(remainderOf(first ?? {}), 'sessionId');
  if (parent !== undefined && stem !== undefined) return { session: parent, subagent: stem };
  // Without its header a file is known only by the name, which has but the start of the id.
  return { session: id ?? stem ?? path.replace(/\.jsonl?$/, '') };
}
