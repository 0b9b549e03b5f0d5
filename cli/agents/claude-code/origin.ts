import type { JsonObject, Origin, TranscriptFile } from '../agent.ts';

/**
 * `<project>/<session>.jsonl`, below it `<session>/subagents/agent-<id>.jsonl` and `…/workflows/<run>/agent-<id>.jsonl`
 * with its `journal.jsonl`. Beside a sub-agent's file lies `agent-<id>.meta.json`, one document that is rewritten: not a
 * transcript. `tool-results/` holds output that was too long for the transcript.
 */
export function isTranscript(path: string): boolean {
  return path.endsWith('.jsonl') && !path.includes('/tool-results/');
}

export function identify({ path }: TranscriptFile, first: JsonObject | undefined): Origin {
  const stem = path.slice(path.lastIndexOf('/') + 1, -'.jsonl'.length);
  const subagent = /^agent-(.+)$/.exec(stem)?.[1];
  return {
    session: /([^/]+)\/subagents\//.exec(path)?.[1] ?? sessionOfFile(path, stem, first),
    ...(subagent !== undefined && { subagent }),
    ...text('agentVersion', first?.version),
    ...text('cwd', first?.cwd),
    ...text('branch', first?.gitBranch),
  };
}

/** Session files are named after their session: in a fork, the records may still name another one. */
function sessionOfFile(path: string, stem: string, first: JsonObject | undefined): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(stem)) return stem;
  const named = first?.sessionId;
  return typeof named === 'string' && named !== '' ? named : path.slice(0, -'.jsonl'.length);
}

function text<Key extends keyof Origin>(key: Key, value: unknown): { [K in Key]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [key]: value } as { [K in Key]?: string }) : {};
}
