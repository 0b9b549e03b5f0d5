import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';
import { peekWords } from '../reader.ts';
import { remainderOf } from '../remainder.ts';
import { takeFirstText } from '../typed.ts';

/**
 * `<folder>/agent-transcripts/<id>.jsonl` or `…/<id>/<id>.jsonl`, of sub-agents `…/<id>/subagents/<id>.jsonl`; and what
 * the hooks told of a conversation, `<id>.jsonl` in a folder of capture's own.
 */
const TRANSCRIPT = /(?:^|\/)agent-transcripts\/(?:([^/]+)\/)?(subagents\/)?([^/]+)\.jsonl$/;

export const isTranscript = (path: string): boolean => TRANSCRIPT.test(path) || /^[^/]+\.jsonl$/.test(path);

/** Which conversation's hooks may have told what a transcript says; undefined for a file of hook events itself. */
export const hookedAs = (path: string): string | undefined => TRANSCRIPT.exec(path)?.[3];

export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const [, parent, isInSubagents, stem] = TRANSCRIPT.exec(path) ?? [];
  if (stem !== undefined) {
    return isInSubagents && parent !== undefined ? { session: parent, subagent: stem } : { session: stem };
  }
  const remainder = remainderOf(JSON.parse(JSON.stringify(first ?? {})) as JsonObject);
  const agentVersion = peekWords(remainder, 'event', 'cursor_version');
  const cwd = folderOf(remainder.record);
  const id = takeFirstText(remainder, ['event', 'conversation_id'], ['event', 'session_id']);
  return {
    session: id || path.replace(/^.*\//, '').replace(/\.jsonl$/, ''),
    ...(agentVersion !== undefined && { agentVersion }),
    ...(cwd !== undefined && { cwd }),
  };
}

export function folderOf(record: JsonObject): string | undefined {
  const remainder = remainderOf(record);
  return peekWords(remainder, 'event', 'cwd') ?? peekWords(remainder, 'event', 'workspace_roots', 0);
}
