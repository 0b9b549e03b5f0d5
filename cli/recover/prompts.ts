import { existsSync, futimesSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent, JsonObject, PromptLine } from '../agents/agent.ts';
import { custom } from '../agents/custom/custom.ts';
import { isObject } from '../agents/shared/part.ts';
import type { Context } from '../context.ts';
import { codeOf } from '../failure.ts';
import { findTranscripts } from '../read/discover.ts';
import type { Spool } from '../spool/open.ts';
import { writeNew } from './write.ts';

/**
 * Agents keep the prompts of all sessions in `history.jsonl` for longer than the transcripts. For each session of which nothing
 * else is left, this writes a file of a custom agent. Capture then treats it like any other: by its folder, the times of its
 * prompts, and the wishes about sessions from before.
 */

/** How many sessions each fate has. */
export interface RecoveredPrompts {
  written: number;
  prompts: number;
  /** They were written before. */
  exists: number;
  /** Capture or the agent still has the session. */
  present: number;
  keptBack: number;
}

/** The form of the ids of sessions. A name of a file is made of them. */
const SESSION_ID = /^[\w-]{8,64}$/;
const IN_PATH = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TITLE_LENGTH = 80;

export function recoverPrompts(
  context: Context,
  spool: Spool,
  agents: readonly Agent[],
  isDryRun: boolean,
): RecoveredPrompts {
  const found: RecoveredPrompts = { written: 0, prompts: 0, exists: 0, present: 0, keptBack: 0 };
  const captured = new Set(spool.sessions.list().map(({ agent, agentSession }) => `${agent} ${agentSession}`));
  const [root = ''] = custom.roots(context.variables, context.home);
  for (const agent of agents.filter(({ readPrompt }) => readPrompt !== undefined)) {
    const present = presentSessions(context, agent);
    for (const [session, prompts] of readHistory(context, agent)) {
      const path = `prompts/${agent.id}-${session}.jsonl`;
      if (captured.has(`${agent.id} ${session}`) || present.has(session)) found.present++;
      else if (spool.decisions.isKeptBack(agent.id, session)) found.keptBack++;
      else if (existsSync(join(root, path)) || (!isDryRun && !writePrompts(root, path, agent, session, prompts)))
        found.exists++;
      else {
        found.written++;
        found.prompts += prompts.length;
      }
    }
  }
  return found;
}

/** The sessions in the names of the agent's transcripts. */
function presentSessions({ variables, home }: Context, agent: Agent): Set<string> {
  const places = agent.roots(variables, home).map((root) => ({ agent, root, below: '' }));
  return new Set(findTranscripts(places, () => {}).flatMap(({ path }) => path.match(IN_PATH) ?? []));
}

/** The prompts by session, in the order of the file. */
function readHistory({ variables, home }: Context, agent: Agent): Map<string, PromptLine[]> {
  const sessions = new Map<string, PromptLine[]>();
  const folder = agent.folder?.(variables, home);
  if (folder === undefined || agent.readPrompt === undefined) return sessions;
  for (const line of readLines(join(folder, 'history.jsonl'))) {
    const prompt = agent.readPrompt(line);
    if (!prompt || !SESSION_ID.test(prompt.session) || !isTime(prompt.time)) continue;
    const known = sessions.get(prompt.session) ?? [];
    known.push(prompt);
    sessions.set(prompt.session, known);
  }
  return sessions;
}

/** The times that a date can have. */
const isTime = (time: number): boolean => Math.abs(time) <= 8.64e15;

/** The lines that are JSON objects. An agent may be writing the last one. */
function readLines(path: string): JsonObject[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line): JsonObject[] => {
        const record = toObject(line);
        return record === undefined ? [] : [record];
      });
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
}

function toObject(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** @returns whether the file is new */
function writePrompts(
  root: string,
  path: string,
  agent: Agent,
  session: string,
  prompts: readonly PromptLine[],
): boolean {
  const last = prompts.reduce((latest, { time }) => Math.max(latest, time), 0) / 1000;
  // Capture decides by this time whether a session is from before it was set up, so the file has it before its name.
  return writeNew(root, path, linesOf(agent, session, prompts), (fd) => futimesSync(fd, last, last)) === undefined;
}

function linesOf(agent: Agent, session: string, prompts: readonly PromptLine[]): Buffer[] {
  const [first] = prompts;
  const cwd = prompts.find(({ folder }) => folder !== undefined)?.folder;
  const id = (number: number) => `${agent.id}-${session}/${number}`;
  const time = (at: number) => new Date(at).toISOString();
  const title = `Prompts only: ${first?.text.split('\n', 1)[0]?.slice(0, TITLE_LENGTH) ?? ''}`;
  const text = `Only the prompts of this session are left. ${agent.displayName} deleted its transcript before capture read it.`;
  const lines = [
    { type: 'session', session: `${agent.id}-${session}`, agent: agent.id, ...(cwd !== undefined && { cwd }), title },
    { type: 'notice', id: id(0), time: time(first?.time ?? 0), kind: 'incomplete', text },
    ...prompts.map((one, number) => ({
      type: 'user.message',
      id: id(number + 1),
      time: time(one.time),
      text: one.text,
    })),
  ];
  return lines.map((line) => Buffer.from(JSON.stringify(line)));
}
