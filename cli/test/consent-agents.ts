import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A folder while it exists; after its removal another one may have the same path. */
export interface Folder {
  path: string;
  real: string;
  remote: string | undefined;
  /** Whether its `.session-capture.json` forbids capture, and whether capture has seen that. */
  says: boolean;
  hasSeenSays: boolean;
  isThere: boolean;
  /** The main folder if this one is a work tree; git keeps the remote there. */
  main: Folder | undefined;
}

export interface Said {
  marker: string;
  author: Session;
  /** Whether it was written before the person's last decision about earlier sessions. */
  isEarlier: boolean;
  /** Whether it was written while capture was paused. */
  isPaused: boolean;
}

export interface Session {
  id: string;
  agent: 'claude-code' | 'codex' | 'gemini-cli';
  file: string;
  folder: Folder;
  /** The working directory as the agent writes it. */
  cwd: string;
  /** Whether capture read it while its folder existed. */
  isObserved: boolean;
  /** Whether capture read it while its folder's remote could be read. */
  hasSeenRemote: boolean;
  /** Whether its agent's clock was slow for one of its messages, or its transcript is gone. */
  isIncomplete: boolean;
  said: Said[];
  parent: Session | undefined;
  verdict: 'none' | 'skipped' | 'deleted' | 'wanted';
  /** Whether it began before the decisions were lost, and the person has not decided again. */
  isLost: boolean;
}

/** The agent's file of a session. */
export function fileOf(home: string, { agent, id }: Pick<Session, 'agent' | 'id'>): string {
  if (agent === 'claude-code') return join(home, '.claude/projects/p', `${id}.jsonl`);
  if (agent === 'codex') return join(home, `.codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`);
  return join(home, `.gemini/tmp/p/chats/session-${id}.jsonl`);
}

/** The first records of a transcript. */
export function headOf({ agent, id, cwd, parent }: Session, timestamp: string): object[] {
  if (agent === 'codex') {
    const forked = parent && { forked_from_id: parent.id };
    return [{ timestamp, type: 'session_meta', payload: { id, timestamp, cwd, cli_version: '0.120.0', ...forked } }];
  }
  if (agent === 'claude-code') return [];
  return [{ sessionId: id, projectHash: 'p', startTime: timestamp, lastUpdated: timestamp }];
}

/** The record of a prompt. */
export function recordOf({ agent, id, cwd }: Session, record: string, timestamp: string, marker: string): object {
  if (agent === 'claude-code') {
    return { type: 'user', uuid: record, timestamp, sessionId: id, cwd, message: { role: 'user', content: marker } };
  }
  if (agent === 'codex') return { timestamp, type: 'event_msg', payload: { type: 'user_message', message: marker } };
  return { id: record, timestamp, type: 'user', content: marker };
}

/** The record with which Gemini CLI writes a whole history again. */
export function restated({ said }: Session, timestamp: string): object {
  const messages = said.map(({ marker }) => ({ id: marker, timestamp, type: 'user', content: marker }));
  return { $set: { messages, lastUpdated: timestamp } };
}

export const lastRecordOf = ({ file }: Session): object =>
  JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '') as object;

/** The sessions that a session comes from. */
export const ancestorsOf = ({ parent }: Pick<Session, 'parent'> = { parent: undefined }): Session[] =>
  parent ? [parent, ...ancestorsOf(parent)] : [];

export function makeRepository(path: string, remote: string | undefined): void {
  mkdirSync(join(path, '.git'));
  writeFileSync(join(path, '.git/config'), `[remote "origin"]\n\turl = ${remote}\n`);
}

export function makeWorkTree(path: string, main: Folder): void {
  const git = join(main.path, '.git/worktrees/tree');
  mkdirSync(git, { recursive: true });
  writeFileSync(join(git, 'commondir'), '../..\n');
  writeFileSync(join(path, '.git'), `gitdir: ${git}\n`);
}
