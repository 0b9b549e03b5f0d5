import { statSync } from 'node:fs';
import { strictestOf, type Visibility } from '../../contract/session.ts';
import type { Origin } from '../agents/agent.ts';
import type { StatePlace } from '../config.ts';
import type { Context } from '../context.ts';
import { forkReason, type Verdict, verdictOfFork } from '../decide/verdicts.ts';
import { ancestors, isInside } from '../paths.ts';
import { createReach } from '../reach.ts';
import { MAX_PATH } from '../repository.ts';
import type { Decision, Decisions, FolderFacts } from '../spool/decisions.ts';
import { lookAbove, lookInto } from './folder.ts';
import { type Preferences, preferencesPath, readPreferences } from './preferences.ts';
import { type Rule, toRule } from './rules.ts';

/** Decides which sessions are captured, according to the person and the folders they work in. */
export interface Policy {
  /**
   * Takes in changed settings, and decides again about every session that capture ever met. Returns true if a decision
   * changed, or if a file server answers again. Call it before each look for transcripts. Without a changed setting it looks
   * every ten seconds into the folders of unfinished sessions, because a folder's wish may have changed.
   */
  refresh(): boolean;
  /** Why a session is kept back; undefined if it is captured. `store` stores the facts that were learned on the way. */
  objection(agent: string, origin: SessionOrigin, start?: StartFacts): string | undefined;
  /**
   * Whether a session stays kept back until a person or a folder's file changes it. False where capture may still learn more
   * about the session, for instance when its file server answers again. Until then, none of the session's data may be thrown
   * away.
   */
  isSettled(agent: string, session: string, objection: string): boolean;
  /**
   * Who may see a session. The strictest wish counts: of its folders, of its sub-agents' folders, of the folders of its
   * ancestors, and of the person about this session. For a new session, the machine's setting counts too.
   */
  visibilityOf(agent: string, session: string, about: { folders: readonly string[]; isNew: boolean }): Visibility;
  /** Why the sessions of a folder are kept back. */
  objectionToFolder(folder: string): string | undefined;
  /** The decision about a session that capture has met. */
  find(agent: string, session: string): Decision | undefined;
  /** Stores the decisions made since the last call. */
  store(): void;
}

type SessionOrigin = Pick<Origin, 'session' | 'subagent' | 'cwd' | 'forkedFrom'>;

/** The facts that a transcript gives about its session when capture meets it. */
export interface StartFacts {
  startedAt: number;
  /** Hashes of the keys of the session's first records, for a session that capture has not met before. */
  firstRecords: () => readonly Uint8Array[];
}

export interface PolicyOptions extends StatePlace, Pick<Context, 'now' | 'platform'> {
  decisions: Decisions;
  /** Runs a unit of work in one commit. */
  transact: <Result>(work: () => Result) => Result;
  isReachable?: (folder: string) => boolean;
  /**
   * Sessions that are open or have waiting events. Capture looks into their folders at each round, because a folder that is removed later
   * takes the visibility with it that it asked for.
   */
  unfinished?: () => readonly { agent: string; session: string }[];
}

/** How long the last look into a folder stays valid. */
const BELIEVE_MS = 10_000;
/** How many looks into folders are remembered: a daemon runs for months. */
const MAX_LOOKS = 1000;
const UNREACHABLE = 'its folder is on a file server that does not answer';
const NO_FOLDER_INCLUDED = 'its folder is not known, and only some are included';
const NO_FOLDER_EXCLUDED = 'its folder is not known, and some are excluded';
const FOLDER_GONE = 'its folder is gone, so it is not known which repository it was, and some are excluded';
/** Reasons that apply until capture learns more about a session. */
const UNSETTLED = new Set([UNREACHABLE, NO_FOLDER_INCLUDED, NO_FOLDER_EXCLUDED, FOLDER_GONE]);

/** What capture can find out about a folder now. `gone`: only its path is known. */
type Look = { kind: 'there' | 'gone'; facts: FolderFacts } | { kind: 'unreachable' };

export function createPolicy(options: PolicyOptions): Policy {
  const { home, now, platform, decisions, transact } = options;
  const isReachable = options.isReachable ?? createReach({ home, now });
  let stamp: string | undefined;
  let reconsideredAt = 0;
  let rules: { include?: Rule[]; exclude: Rule[] } = { exclude: [] };
  let ofMachine: Visibility | undefined;
  const looks = new Map<string, { look: Look; until: number }>();
  /** Folders on file servers that have not answered since the last `refresh`. */
  const away = new Set<string>();
  /** Decisions since the last `store`, by agent and session. */
  const decided = new Map<string, { before: Decision | undefined; decision: Decision }>();
  const firstRecords = new Map<string, { agent: string; session: string; key: Uint8Array }>();
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
    if (looks.size >= MAX_LOOKS) looks.clear();
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

  /** The last known facts about a folder that is gone, or about the repository that it was in. */
  function recall(folder: string): FolderFacts | undefined {
    for (const at of ancestors(folder)) {
      const facts = folders.get(at) ?? decisions.folder(at);
      if (facts && (at === folder || (facts.root !== undefined && isInside(folder, facts.root)))) return facts;
    }
    return undefined;
  }

  /** Every state of a session's folder since capture met the session, and why one of them forbids capturing. */
  function judgeFolder(folder: string | undefined, known: FolderFacts[]): { facts: FolderFacts[]; reason?: string } {
    if (folder === undefined) {
      // A rule about a folder does not cover a session without a folder.
      if (rules.include) return { facts: known, reason: NO_FOLDER_INCLUDED };
      if (rules.exclude.length === 0) return { facts: known };
      return { facts: known, reason: NO_FOLDER_EXCLUDED };
    }
    if (folder.length > MAX_PATH) return { facts: known, reason: 'the path of its folder is too long' };
    if (folder.includes('\0')) return { facts: known, reason: 'the path of its folder contains a NUL' };
    const seen = look(folder);
    if (seen.kind === 'unreachable') return { facts: known, reason: UNREACHABLE };
    if (seen.kind === 'there') {
      const facts = addFacts(known, seen.facts);
      return withReason(facts, objectionOf(facts));
    }
    const recalled = recall(folder);
    const facts = known.length > 0 || recalled === undefined ? known : [recalled];
    // Rules about paths apply to the place where the folder was.
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

  /** Why a folder that a removed link led to forbids capturing now: that folder may still exist. */
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
   * Decides by the facts of a session, its folder and its parents. `judged` contains every session that this call has judged,
   * since forks of forks share most of their parents. A session that is still being judged is stored there as undefined.
   */
  function decide(row: Decision, judged = new Map<string, Decision | undefined>()): Decision {
    const { facts, reason: own } = judgeFolder(row.folder, row.facts);
    const isKeptBackByPerson = row.isByPerson && (row.verdict === 'skipped' || row.verdict === 'deleted');
    // The present state of the folder is stored, because it counts if the person takes the decision back after the folder is
    // gone.
    if (isKeptBackByPerson) return isEqual(facts, row.facts) ? row : { ...row, facts };
    // A person who wants this very fork has seen the sessions that it comes from.
    const parents = row.isByPerson ? [] : row.parents;
    judged.set(row.session, undefined);
    const inherited = parents
      .flatMap((name) => judgeParent(row.agent, name, judged) ?? [])
      .find(({ verdict }) => verdict !== 'wanted');
    const ofFolder: { verdict: Verdict; reason: string | undefined } = {
      verdict: own === undefined ? 'wanted' : 'excluded',
      reason: own,
    };
    const { verdict, reason } = inherited ? verdictOfFork(inherited) : ofFolder;
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

  /** The session that first began with a record. A session that was met before the last `store` comes first. */
  const ownerOf = (agent: string, key: Uint8Array): string | undefined =>
    decisions.findByFirstRecord(agent, key) ?? firstRecords.get(toHex(key))?.session;

  /** A session that begins with a record of another session was forked from it, if the other session existed first. */
  function findParents(agent: string, { session, forkedFrom }: SessionOrigin, keys: readonly Uint8Array[]): string[] {
    const owners = keys.map((key) => ownerOf(agent, key));
    const others = [forkedFrom, ...owners].filter((owner) => owner !== undefined && owner !== session);
    return [...new Set(others as string[])];
  }

  function newDecision(agent: string, origin: SessionOrigin, start: StartFacts): Decision {
    const { session, cwd: folder } = origin;
    const keys = start.firstRecords();
    const parents = findParents(agent, origin, keys);
    for (const key of keys) {
      const name = toHex(key);
      if (!firstRecords.has(name)) firstRecords.set(name, { agent, session, key });
    }
    const { startedAt } = start;
    return {
      agent,
      session,
      verdict: 'wanted',
      decidedAt: now(),
      isByPerson: false,
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

  function objection(agent: string, origin: SessionOrigin, start?: StartFacts): string | undefined {
    const { session, subagent, cwd } = origin;
    const isMain = subagent === undefined;
    const known = find(agent, session);
    // A running session may name its folder only after its first records.
    const withFolderOf = (row: Decision): Decision =>
      isMain && row.folder === undefined && cwd !== undefined ? { ...row, folder: cwd } : row;
    // A session's own transcript contains more facts than a sub-agent's transcript or a name that a person gave.
    const row =
      known === undefined || (isMain && known.startedAt === undefined)
        ? addKnown(newDecision(agent, origin, start ?? { startedAt: now(), firstRecords: () => [] }), known)
        : withFolderOf(known);
    const judged = new Map<string, Decision | undefined>();
    const decision = decide(row, judged);
    const isStored = start !== undefined && isMain;
    if (isStored) {
      put(known, decision);
      putParents(agent, judged);
    }
    if (decision.verdict !== 'wanted') return decision.reason;
    return cwd === undefined || cwd === decision.folder ? undefined : judgeFolder(cwd, []).reason;
  }

  /**
   * The facts that decide about a fork apply to its parents too. A commit refuses the fork while one of its parents is kept
   * back.
   */
  function putParents(agent: string, judged: ReadonlyMap<string, Decision | undefined>): void {
    for (const [name, decision] of judged) {
      const known = decision && find(agent, name);
      // Each parent is judged again by itself. In a circle of forks, one session was still unknown while the others were
      // judged.
      if (known && decision !== known) put(known, decide(known));
    }
  }

  /** Decides again about the unfinished sessions. Returns true if a verdict changed. */
  function reconsiderUnfinished(): boolean {
    if (Math.abs(now() - reconsideredAt) < BELIEVE_MS) return false;
    reconsideredAt = now();
    let hasChanged = false;
    for (const { agent, session } of options.unfinished?.() ?? []) {
      const known = find(agent, session);
      if (known === undefined) continue;
      const decision = decide(known);
      put(known, decision);
      hasChanged ||= decision.verdict !== known.verdict;
    }
    return hasChanged;
  }

  /** The visibilities that a person and the folders ask for, for a session and its ancestors. */
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

  /** The visibility that a folder asks for now, and the one that it asked for when it last existed. */
  function visibilitiesOfFolder(folder: string): (Visibility | undefined)[] {
    if (folder.length > MAX_PATH) return [];
    const seen = look(folder);
    if (seen.kind === 'there') return [seen.facts.visibility];
    return [recall(folder)?.visibility, ...(seen.kind === 'gone' ? [seen.facts.visibility] : [])];
  }

  /** Stores the decisions in one commit. A decision that a person or another process made meanwhile wins. */
  function store(): void {
    if (decided.size + firstRecords.size + folders.size + rulePaths.size === 0) return;
    transact(() => {
      for (const { before, decision } of decided.values()) {
        if (isEqual(decisions.find(decision.agent, decision.session), before)) decisions.store(decision);
      }
      for (const { agent, session, key } of firstRecords.values()) decisions.addFirstRecord(agent, session, key);
      for (const [path, facts] of folders)
        if (!isEqual(decisions.folder(path), facts)) decisions.setFolder(path, facts);
      for (const [rule, paths] of rulePaths) for (const path of paths) decisions.addRulePath(rule, path);
    });
    decided.clear();
    firstRecords.clear();
    folders.clear();
    rulePaths.clear();
  }

  return {
    refresh() {
      // The links in the rules are followed at each look. By the time capture meets a session, they may be gone or lead
      // elsewhere.
      const led = [...(rules.include ?? []), ...rules.exclude].filter((rule) => rule.follow());
      const current = `${stampOf(preferencesPath(options))} ${decisions.revision()}`;
      const isServerBack = [...away].some((folder) => look(folder).kind !== 'unreachable');
      if (current === stamp && !isServerBack && led.length === 0) return reconsiderUnfinished();
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
    store,
  };
}

/**
 * Adds what was known about a session before capture met its transcript: the person's decision, and the facts in an earlier
 * spool.
 */
function addKnown(decision: Decision, known: Decision | undefined): Decision {
  if (known === undefined) return decision;
  const { verdict, reason, isByPerson, decidedAt, facts, visibility } = known;
  const parents = [...new Set([...known.parents, ...decision.parents])];
  return {
    ...decision,
    folder: decision.folder ?? known.folder,
    verdict,
    reason,
    isByPerson,
    decidedAt,
    facts,
    parents,
    visibility,
  };
}

const withReason = (facts: FolderFacts[], reason: string | undefined) => ({
  facts,
  ...(reason !== undefined && { reason }),
});

/** If a folder was replaced, leads elsewhere or has another repository than before, its earlier states still count. */
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
