import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readKey } from '../../redact/key.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { ancestors } from '../paths.ts';
import { openPolicy } from '../pipeline.ts';
import type { Transcript } from '../read/discover.ts';
import type { UnreadTranscript } from '../read/identify.ts';
import { createRecordHash } from '../read/identity.ts';
import { findUnjudged, judgeSessions } from '../read/judge.ts';
import { findUnread } from '../read/unread.ts';
import type { FileRow } from '../spool/files.ts';
import type { Spool } from '../spool/open.ts';
import { SESSION_NAMES } from './choose.ts';

/** A session that was captured, or that a transcript names. */
export interface KnownSession {
  agent: string;
  /** The agent's own id. */
  session: string;
  /** Its row in the spool, if any of it was captured. */
  id?: number;
  title?: string | undefined;
  folders: string[];
  /** When it was last active, in milliseconds since 1970. */
  activeAt: number;
  /** How many of its events were sent. */
  sent: number;
  /** Its transcripts with uncaptured records. */
  unread: UnreadTranscript[];
}

/** The chosen session, captured or not. Without a name, the session that was last active in this folder. */
export const chooseKnown = (context: Context, spool: Spool, name: string | undefined): KnownSession =>
  choose(context, spool, listKnown(context, spool), name);

/**
 * The chosen session, about which a person decides now. Capture first meets every session that exists, because a session that
 * begins later with the same records is a fork and inherits the decision.
 */
export function chooseToDecide(context: Context, spool: Spool, name: string | undefined): KnownSession {
  const read: Transcript[] = [];
  const all = listKnown(context, spool, (transcript) => read.push(transcript));
  const chosen = choose(context, spool, all, name);
  const policy = openPolicy(context, spool);
  const unjudged = read.flatMap((transcript) => findUnjudged(spool, policy, transcript));
  const unread = all.flatMap((one) => one.unread);
  judgeSessions(policy, createRecordHash(readKey(stateFolder(context))), [...unjudged, ...unread]);
  policy.store();
  return chosen;
}

function choose(context: Context, spool: Spool, all: readonly KnownSession[], name: string | undefined): KnownSession {
  if (name === undefined) {
    const around = new Set(ancestors(context.folder));
    const here = all.filter(({ folders }) => folders.some((folder) => around.has(folder)));
    const latest = here.sort((one, other) => one.activeAt - other.activeAt).at(-1);
    if (latest !== undefined) return latest;
    throw new Failure(EXIT.usage, 'There is no session of this folder.', 'Name the session by its id.');
  }
  const known = spool.sessions.findByServiceId(name);
  const same = all.filter(({ id, session }) => session === name || (id !== undefined && id === known));
  const meant = same.length > 0 || name === '' ? same : all.filter(({ session }) => session.startsWith(name));
  const [only, ...others] = meant;
  if (only === undefined) throw new Failure(EXIT.usage, `There is no session ${name}.`, `Give ${SESSION_NAMES}.`);
  if (others.length === 0) return only;
  throw new Failure(EXIT.usage, `${meant.length} sessions begin with ${name}.`, 'Give more of its id.');
}

const changeOf = ({ root, path }: FileRow): number =>
  statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** `onRead` is called for each transcript without uncaptured records. */
function listKnown(
  context: Context,
  spool: Spool,
  onRead: (transcript: Transcript) => void = () => {},
): KnownSession[] {
  const all = new Map<string, KnownSession>();
  for (const {
    id,
    agent,
    agentSession: session,
    title,
    prompt,
    cwd,
    lastAt,
    modifiedAt,
    sent,
  } of spool.sessions.list()) {
    const files = spool.files.ofSession(agent, session);
    const folders = [cwd, ...files.map(({ origin }) => origin.cwd)].filter((folder) => folder !== undefined);
    // If all of a session stays here because of a pause or its age, the spool has no time for it.
    const activeAt = Math.max(lastAt ?? 0, modifiedAt ?? 0) || Math.max(0, ...files.map(changeOf));
    all.set(`${agent} ${session}`, { agent, session, id, title: title ?? prompt, folders, activeAt, sent, unread: [] });
  }
  const ensure = (agent: string, session: string): KnownSession => {
    const known = all.get(`${agent} ${session}`) ?? { agent, session, folders: [], activeAt: 0, sent: 0, unread: [] };
    all.set(`${agent} ${session}`, known);
    return known;
  };
  for (const { agent, session, folder } of spool.decisions.all()) {
    const one = ensure(agent, session);
    if (folder !== undefined) one.folders.push(folder);
  }
  for (const transcript of findUnread(context, spool, () => {})) {
    const { agent, modifiedAt, sessions } = transcript;
    if (sessions.length === 0) onRead(transcript);
    for (const file of sessions) {
      const one = ensure(agent.id, file.origin.session);
      if (file.origin.cwd !== undefined) one.folders.push(file.origin.cwd);
      one.activeAt = Math.max(one.activeAt, modifiedAt);
      one.unread.push(file);
    }
  }
  return [...all.values()];
}
