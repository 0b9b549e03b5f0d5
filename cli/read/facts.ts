import { promptLine } from '../../transcript/entry/value.ts';
import type { CapturedEvent } from '../../transcript/vocabulary.ts';
import type { Origin } from '../agents/agent.ts';
import type { SessionFacts } from '../spool/sessions.ts';

const TITLE_LENGTH = 300;

/** The facts that an event gives about its session. Secrets are already masked. */
export function factsOf({ eventType, payload }: CapturedEvent): SessionFacts {
  const time = Date.parse(payload.occurredAt ?? '');
  const { agentVersion, subagent } = payload.source;
  const common = {
    agentVersion: toTitle(agentVersion),
    ...(Number.isNaN(time) ? {} : { firstAt: time, lastAt: time }),
  };
  // A sub-agent also has a prompt and a folder, but they are not the session's.
  if (subagent !== undefined) return common;
  if (eventType === 'user.message') return { ...common, prompt: toTitle(payload.text && promptLine(payload.text)) };
  if (eventType !== 'session.meta') return common;
  const { title, cwd, branch } = payload;
  return { ...common, title: toTitle(title), cwd: toPath(cwd), branch: toPath(branch) };
}

/**
 * The session from which the session of a file was forked. A sub-agent's file names the thread that the sub-agent continues, mostly
 * its own session.
 */
export const parentOf = ({ session, subagent, forkedFrom }: Origin): string | undefined =>
  subagent === undefined && forkedFrom !== session ? forkedFrom : undefined;

/** The first value stays, except for the agent's version. The range of times widens. */
export function mergeFacts(one: SessionFacts, other: SessionFacts): SessionFacts {
  return {
    agentVersion: other.agentVersion ?? one.agentVersion,
    title: one.title ?? other.title,
    prompt: one.prompt ?? other.prompt,
    cwd: one.cwd ?? other.cwd,
    branch: one.branch ?? other.branch,
    forkedFrom: one.forkedFrom ?? other.forkedFrom,
    modifiedAt: latest(one.modifiedAt, other.modifiedAt),
    firstAt: earliest(one.firstAt, other.firstAt),
    lastAt: latest(one.lastAt, other.lastAt),
  };
}

type Time = number | undefined;

const earliest = (one: Time, other: Time): Time =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

const latest = (one: Time, other: Time): Time =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

/** The first line that is not blank, shortened to the length of a title. */
export function toTitle(text: string | undefined): string | undefined {
  const line = text?.split(/[\r\n]/, 20).find((candidate) => candidate.trim() !== '');
  const title = line?.replaceAll('\0', '').trim().slice(0, TITLE_LENGTH).toWellFormed().trim();
  return title || undefined;
}

const toPath = (text: string | undefined) =>
  text !== undefined && text !== '' && text.length <= 4096 && !text.includes('\0') ? text : undefined;
