import { statSync } from 'node:fs';
import { strictestOf, type Visibility } from '../../contract/session.ts';
import type { Origin } from '../agents/agent.ts';
import type { StatePlace } from '../config.ts';
import type { Context } from '../context.ts';
import { ancestors, isInside } from '../paths.ts';
import { createReach } from '../reach.ts';
import { LONGEST_PATH } from '../repository.ts';
import { type Decision, type Decisions, type FolderFacts, forkReason } from '../spool/decisions.ts';
import { lookAbove, lookInto } from './folder.ts';
import { type Preferences, preferencesPath, readPreferences } from './preferences.ts';
import { type Rule, toRule } from './rules.ts';

/** What a person, and the folders they work in, want captured. */
export interface Policy {
  /**
   * Takes in changed settings, and decides anew about every session that was ever met; true where anything changed, or a
   * file server answers again. Call it before each look for transcripts. Without such a change it looks into the folders of
   * sessions that wait to be sent, every ten seconds: what a folder says may have changed.
   */
  refresh(): boolean;
  /** Why a session is kept back; undefined if it is captured. Facts learned on the way are kept once `keep` is called. */
  objection(agent: string, origin: SessionOrigin, met?: Meeting): string | undefined;
  /**
   * Whether a session stays kept back until a person, or what a folder says, changes it. False where more may become known of
   * it, as when its file server answers again: then none of its data may be thrown away.
   */
  isSettled(agent: string, session: string, objection: string): boolean;
  /**
   * Who may see a session: the strictest of what its folders say, those of its sub-agents and what it was forked from among them, of
   * what a person said of it, and of a new one also of what the machine is set to.
   */
  visibilityOf(agent: string, session: string, about: { folders: readonly string[]; isNew: boolean }): Visibility;
  /** Why sessions of a folder are kept back. */
  objectionToFolder(folder: string): string | undefined;
  /** What is known of a session that was met. */
  find(agent: string, session: string): Decision | undefined;
  /** Writes down what was decided since. */
  keep(): void;
}

type SessionOrigin = Pick<Origin, 'session' | 'subagent' | 'cwd' | 'forkedFrom'>;

/** What a transcript tells of its session when it is met. */
export interface Meeting {
  startedAt: number;
  /** Hashes of its first records' keys, for a session that was not met before. */
  heads: () => readonly Uint8Array[];
}

export interface PolicyOptions extends StatePlace, Pick<Context, 'now' | 'platform'> {
  decisions: Decisions;
  /** Runs a unit of work in one commit. */
  transact: <Result>(work: () => Result) => Result;
  isReachable?: (folder: string) => boolean;
  /** Sessions with waiting events, or with events that would wait if they were not kept back. */
  waiting?: () => readonly { agent: string; session: string }[];
}

/** How long what a folder says is believed. */
const BELIEVE_MS = 10_000;
/** Folders whose looks are kept: a daemon runs for months. */
const MOST_LOOKS = 1000;
const UNREACHABLE = 'its folder is on a file server that does not answer';
const NO_FOLDER_INCLUDED = 'its folder is not known, and only some are included';
const NO_FOLDER_EXCLUDED = 'its folder is not known, and some are excluded';
const FOLDER_GONE = 'its folder is gone, so it is not known which repository it was, and some are excluded';
/** Reasons that hold until more is known of a session. */
const UNSETTLED = new Set([UNREACHABLE, NO_FOLDER_INCLUDED, NO_FOLDER_EXCLUDED, FOLDER_GONE]);

/** What can be told of a folder now. `gone`: nothing but where it was. */
type Look = { kind: 'there' | 'gone'; facts: FolderFacts } | { kind: 'unreachable' };

export function createPolicy(options: PolicyOptions): Policy {
  const { home, now, platform, decisions, transact } = options;
  const isReachable = options.isReachable ?? createReach({ home, now });
  let stamp: string | undefined;
  let reconsideredAt = 0;
  let rules: { include?: Rule[]; exclude: Rule[] } = { exclude: [] };
  let ofMachine: Visibility | undefined;
  const looks = new Map<string, { look: Look; until: number }>();
  /** Folders on file servers that did not answer since the last `refresh`. */
  const away = new Set<string>();
  /** Decided since the last `keep`, by agent and session. */
  const decided = new Map<string, { before: Decision | undefined; decision: Decision }>();
  const heads = new Map<string, { agent: string; session: string; key: Uint8Array }>();
  const folders = new Map<string, FolderFacts>();
  const rulePaths = new Map<string, Set<string>>();

  const nameOf = (agent: string, session: string) => `${agent} ${session}`;
  const find = (agent: string, session: string) =>
    decided.get(nameOf(agent, session))?.decision ?? decisions.find(agent, session);

  function remember(rule: string, path: string): string[] {
    const known = decisions.rulePaths(rule);
    const added = rulePaths.get(rule) ?? new Set();
    if (!known.includes(path)) rulePaths.set(rule, added.add(path));
    return [...known, ...added];
  }

  const makeRule = (text: string) => toRule(text, { home, platform, remember });

  function look(folder: string): Look {
    const known = looks.get(folder);
    if (known && known.until > now()) return known.look;
    const found = lookAnew(folder);
    if (looks.size >= MOST_LOOKS) looks.clear();
    looks.set(folder, { look: found, until: now() + BELIEVE_MS });
    return found;
  }

  function lookAnew(folder: string): Look {
    if (!isReachable(folder)) {
      away.add(folder);
      return { kind: 'unreachable' };
    }
    const facts = lookInto(folder);
    if (facts === undefined) return { kind: 'gone', facts: lookAbove(folder) };
    folders.set(folder, facts);
    return { kind: 'there', facts };
  }

  /** What a folder that is gone was, or the repository that it was in. */
  function recall(folder: string): FolderFacts | undefined {
    for (const at of ancestors(folder)) {
      const facts = folders.get(at) ?? decisions.folder(at);
      if (facts && (at === folder || (facts.root !== undefined && isInside(folder, facts.root)))) return facts;
    }
    return undefined;
  }

  /** Everything that a session's folder has been since the session was met, and why it is against capturing. */
  function judgeFolder(folder: string | undefined, known: FolderFacts[]): { facts: FolderFacts[]; reason?: string } {
    if (folder === undefined) {
      // A rule about a folder does not mean a session without one.
      if (rules.include) return { facts: known, reason: NO_FOLDER_INCLUDED };
      if (rules.exclude.length === 0) return { facts: known };
      return { facts: known, reason: NO_FOLDER_EXCLUDED };
    }
    if (folder.length > LONGEST_PATH) return { facts: known, reason: 'its folder is longer than folders can be' };
    const seen = look(folder);
    if (seen.kind === 'unreachable') return { facts: known, reason: UNREACHABLE };
    if (seen.kind === 'there') {
      const facts = addFacts(known, seen.facts);
      return withReason(facts, objectionOf(facts));
    }
    const recalled = recall(folder);
    const facts = known.length > 0 || recalled === undefined ? known : [recalled];
    // Rules about paths are about where it was.
    const isKnown = facts.length > 0;
    const all = isKnown
      ? facts.map((each) => ({ ...each, paths: [...each.paths, ...seen.facts.paths] }))
      : [seen.facts];
    const needsLook = [...(rules.include ?? []), ...rules.exclude].some(({ isRemote }) => isRemote);
    const led = whereLinksLed(folder, facts);
    if (led === 'unreachable') return { facts, reason: UNREACHABLE };
    const reason = objectionOf([...all, { ...seen.facts, remotes: all.flatMap(({ remotes }) => remotes) }]) ?? led;
    if (reason !== undefined || isKnown || !needsLook) return withReason(facts, reason);
    return { facts, reason: FOLDER_GONE };
  }

  /** Why the folders that a removed link led to are against capturing now: they may be there still. */
  function whereLinksLed(folder: string, facts: readonly FolderFacts[]): string | undefined {
    for (const path of new Set(facts.flatMap(({ paths }) => paths))) {
      if (path === folder) continue;
      const seen = look(path);
      if (seen.kind === 'unreachable') return seen.kind;
      if (seen.facts.objection !== undefined) return seen.facts.objection;
    }
    return undefined;
  }

  /** Every known state of a folder counts. */
  function objectionOf(all: readonly FolderFacts[]): string | undefined {
    for (const facts of all) {
      const excluded = rules.exclude.find((rule) => rule.matches(facts));
      if (excluded) return `"${excluded.text}" is excluded`;
      if (rules.include && !rules.include.some((rule) => rule.matches(facts))) return 'it is not in an included folder';
      if (facts.objection !== undefined) return facts.objection;
    }
    return undefined;
  }

  /**
   * Decides by the facts of a session, its folder and its parents. `judged` holds every session that was judged on
   * the way, since forks of forks share most of their parents; one that is still being judged is in it as undefined.
   */
  function decide(row: Decision, judged = new Map<string, Decision | undefined>()): Decision {
    const { facts, reason: own } = judgeFolder(row.folder, row.facts);
    const isSaidOut = row.isSaid && (row.verdict === 'skipped' || row.verdict === 'deleted');
    // The present state of its folder counts if the person takes that back when it is gone.
    if (isSaidOut) return isEqual(facts, row.facts) ? row : { ...row, facts };
    // A person who wants this very fork has seen what it comes from.
    const parents = row.isSaid ? [] : row.parents;
    judged.set(row.session, undefined);
    const inherited = parents
      .flatMap((name) => judgeParent(row.agent, name, judged) ?? [])
      .find(({ verdict }) => verdict !== 'wanted');
    const reason = inherited ? forkReason(inherited.session) : own;
    const verdict =
      inherited && inherited.verdict !== 'excluded' ? 'skipped' : reason === undefined ? 'wanted' : 'excluded';
    const isSame = verdict === row.verdict && reason === row.reason && isEqual(facts, row.facts);
    return isSame ? row : { ...row, verdict, reason, facts, decidedAt: now() };
  }

  function judgeParent(agent: string, session: string, judged: Map<string, Decision | undefined>) {
    if (judged.has(session)) return judged.get(session);
    const parent = find(agent, session);
    const decision = parent && decide(parent, judged);
    judged.set(session, decision);
    return decision;
  }

  /** A session that begins with a record of another one was forked from it, if that one was there first. */
  function findParents(agent: string, { session, forkedFrom }: SessionOrigin, keys: readonly Uint8Array[]): string[] {
    const owners = keys.map((key) => heads.get(toHex(key))?.session ?? decisions.findHead(agent, key));
    const others = [forkedFrom, ...owners].filter((owner) => owner !== undefined && owner !== session);
    return [...new Set(others as string[])];
  }

  function meet(agent: string, origin: SessionOrigin, met: Meeting): Decision {
    const { session, cwd: folder } = origin;
    const keys = met.heads();
    const parents = findParents(agent, origin, keys);
    for (const key of keys) {
      const name = toHex(key);
      if (!heads.has(name)) heads.set(name, { agent, session, key });
    }
    const { startedAt } = met;
    return {
      agent,
      session,
      verdict: 'wanted',
      decidedAt: now(),
      isSaid: false,
      folder,
      facts: [],
      startedAt,
      parents,
    };
  }

  function put(known: Decision | undefined, decision: Decision): void {
    if (decision === known) return;
    const name = nameOf(decision.agent, decision.session);
    const pending = decided.get(name);
    decided.set(name, { before: pending ? pending.before : known, decision });
  }

  function objection(agent: string, origin: SessionOrigin, met?: Meeting): string | undefined {
    const { session, subagent, cwd } = origin;
    const isMain = subagent === undefined;
    const known = find(agent, session);
    // A running session may name its folder only after its first records.
    const withFolderOf = (row: Decision): Decision =>
      isMain && row.folder === undefined && cwd !== undefined ? { ...row, folder: cwd } : row;
    // A session's own transcript holds more facts than a sub-agent's, or than a name that a person gave.
    const row =
      known === undefined || (isMain && known.startedAt === undefined)
        ? addKnown(meet(agent, origin, met ?? { startedAt: now(), heads: () => [] }), known)
        : withFolderOf(known);
    const judged = new Map<string, Decision | undefined>();
    const decision = decide(row, judged);
    const isKept = met !== undefined && isMain;
    if (isKept) {
      put(known, decision);
      keepParents(agent, judged);
    }
    if (decision.verdict !== 'wanted') return decision.reason;
    return cwd === undefined || cwd === decision.folder ? undefined : judgeFolder(cwd, []).reason;
  }

  /** What a fork was judged by holds for its parents as well: a commit refuses it while one of them is kept back. */
  function keepParents(agent: string, judged: ReadonlyMap<string, Decision | undefined>): void {
    for (const [name, decision] of judged) {
      const known = decision && find(agent, name);
      // Judged anew by itself: of forks that lead round in a circle, one was not known while the others were judged.
      if (known && decision !== known) put(known, decide(known));
    }
  }

  /** True where the verdict about any of them changed. */
  function reconsiderWaiting(): boolean {
    if (Math.abs(now() - reconsideredAt) < BELIEVE_MS) return false;
    reconsideredAt = now();
    let hasChanged = false;
    for (const { agent, session } of options.waiting?.() ?? []) {
      const known = find(agent, session);
      if (known === undefined) continue;
      const decision = decide(known);
      put(known, decision);
      hasChanged ||= decision.verdict !== known.verdict;
    }
    return hasChanged;
  }

  /** What is asked for by a session, and by those that it was forked from. */
  function visibilitiesOf(agent: string, session: string, seen: Set<string>): (Visibility | undefined)[] {
    const known = seen.has(session) ? undefined : find(agent, session);
    seen.add(session);
    if (known === undefined) return [];
    const { visibility, facts, folder, parents } = known;
    return [
      visibility,
      ...facts.map((each) => each.visibility),
      ...(folder === undefined ? [] : visibilitiesOfFolder(folder)),
      ...parents.flatMap((parent) => visibilitiesOf(agent, parent, seen)),
    ];
  }

  /** What a folder asks for now, and what it did when it was last there. */
  function visibilitiesOfFolder(folder: string): (Visibility | undefined)[] {
    if (folder.length > LONGEST_PATH) return [];
    const seen = look(folder);
    if (seen.kind === 'there') return [seen.facts.visibility];
    return [recall(folder)?.visibility, ...(seen.kind === 'gone' ? [seen.facts.visibility] : [])];
  }

  /** Writes down in one commit what was decided, unless a person or another process did meanwhile. */
  function keep(): void {
    if (decided.size + heads.size + folders.size + rulePaths.size === 0) return;
    transact(() => {
      for (const { before, decision } of decided.values()) {
        if (isEqual(decisions.find(decision.agent, decision.session), before)) decisions.store(decision);
      }
      for (const { agent, session, key } of heads.values()) decisions.addHead(agent, session, key);
      for (const [path, facts] of folders)
        if (!isEqual(decisions.folder(path), facts)) decisions.setFolder(path, facts);
      for (const [rule, paths] of rulePaths) for (const path of paths) decisions.addRulePath(rule, path);
    });
    decided.clear();
    heads.clear();
    folders.clear();
    rulePaths.clear();
  }

  return {
    refresh() {
      // Their links are followed at each look: they may be gone, or lead elsewhere, by the time a session is met.
      const led = [...(rules.include ?? []), ...rules.exclude].filter((rule) => rule.follow());
      const current = `${stampOf(preferencesPath(options))} ${decisions.revision()}`;
      const isServerBack = [...away].some((folder) => look(folder).kind !== 'unreachable');
      if (current === stamp && !isServerBack && led.length === 0) return reconsiderWaiting();
      const { include, exclude = [], visibility }: Preferences = readPreferences(options);
      ofMachine = visibility;
      rules = { ...(include && { include: include.map(makeRule) }), exclude: exclude.map(makeRule) };
      looks.clear();
      away.clear();
      stamp = current;
      reconsideredAt = now();
      for (const row of [...decisions.all()]) put(row, decide(row));
      return true;
    },
    objection,
    isSettled(agent, session, reason) {
      const { verdict, parents = [] } = find(agent, session) ?? {};
      if (verdict === 'skipped' || verdict === 'deleted') return true;
      return !UNSETTLED.has(reason) && !parents.some((parent) => forkReason(parent) === reason);
    },
    visibilityOf: (agent, session, { folders, isNew }) =>
      strictestOf(
        ...(isNew ? [ofMachine] : []),
        ...folders.flatMap(visibilitiesOfFolder),
        ...visibilitiesOf(agent, session, new Set()),
      ),
    objectionToFolder: (folder) => judgeFolder(folder, []).reason,
    find,
    keep,
  };
}

/** What was known of a session before its transcript was met: what a person said, and what an earlier spool had of it. */
function addKnown(met: Decision, known: Decision | undefined): Decision {
  if (known === undefined) return met;
  const { verdict, reason, isSaid, decidedAt, facts, visibility } = known;
  const parents = [...new Set([...known.parents, ...met.parents])];
  return { ...met, folder: met.folder ?? known.folder, verdict, reason, isSaid, decidedAt, facts, parents, visibility };
}

const withReason = (facts: FolderFacts[], reason: string | undefined) => ({
  facts,
  ...(reason !== undefined && { reason }),
});

/** A folder that is another one, leads elsewhere, or has another repository than before: what it was counts as well. */
function addFacts(known: readonly FolderFacts[], facts: FolderFacts): FolderFacts[] {
  const isNone = (before: string | undefined, now: string | undefined) => before === undefined || before === now;
  const isReplaced = ({ paths, remotes, id, objection, visibility }: FolderFacts) =>
    isEqual(paths, facts.paths) &&
    (remotes.length === 0 || isEqual(remotes, facts.remotes)) &&
    (id === facts.id || (isNone(objection, facts.objection) && isNone(visibility, facts.visibility)));
  return [...known.filter((each) => !isReplaced(each)), facts];
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const toHex = (key: Uint8Array) => Buffer.from(key).toString('hex');

function stampOf(path: string): string {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${size} ${mtimeMs}`;
}
