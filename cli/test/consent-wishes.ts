import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInside } from '../paths.ts';
import type { Consent } from '../privacy/consent.ts';
import type { Said, Session } from './consent-agents.ts';

export type Rule = '~/plain' | '~/link' | '~/real' | '~/tree' | 'git.example.com/me/*' | 'github.com/acme';
export const RULES: Rule[] = ['~/plain', '~/link', '~/real', '~/tree', 'git.example.com/me/*', 'github.com/acme'];

/** The person's wishes and what they allow to leave the machine: the model that capture is compared with. */
export class Wishes {
  readonly excluded = new Set<Rule>();
  readonly included = new Set<Rule>();
  /** Rules with a link that capture has resolved. */
  readonly followed = new Set<Rule>();
  history: Consent['history'] = 'none';
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  /** Writes the rules into the preferences. @returns them as a text */
  store(now: number, padding: number): string {
    const [exclude, include] = [[...this.excluded], [...this.included]];
    const path = join(this.#home, 'state/preferences.json');
    mkdirSync(dirname(path), { recursive: true });
    const text = JSON.stringify({ exclude, ...(include.length > 0 ? { include } : {}) });
    writeFileSync(path, text + ' '.repeat(padding));
    utimesSync(path, now / 1000, now / 1000);
    return `excluded: ${exclude.join(', ')}; included: ${include.join(', ') || 'all'}`;
  }

  /** The decisions are lost. */
  lose(): void {
    this.followed.clear();
    this.history = 'none';
  }

  lettable({ said, agent, cwd }: Session): Said[] {
    const history = this.history;
    // Gemini CLI does not record its folder.
    const isChosen = Array.isArray(history) && agent !== 'gemini-cli' && history.some((each) => isInside(cwd, each));
    return said.filter(({ isEarlier, isPaused }) => !isPaused && (!isEarlier || history === 'all' || isChosen));
  }

  /** @param asked the sessions that were asked about already: two sessions may contain records of each other */
  mayGo(session: Session, asked: ReadonlySet<Session> = new Set()): boolean {
    if (session.isLost || this.#isExcluded(session)) return false;
    if (session.verdict !== 'none') return session.verdict === 'wanted';
    const next = new Set([...asked, session]);
    return this.#parentsOf(session).every(
      (parent) => next.has(parent) || this.mayGo(parent, next) || this.#isUnknownFork(parent),
    );
  }

  /** Codex records the parent of a fork; other forks have records of their parents. */
  #parentsOf(session: Session): Session[] {
    if (session.agent === 'codex') return session.parent === undefined ? [] : [session.parent];
    return [...new Set(session.said.map(({ author }) => author))].filter((author) => author !== session);
  }

  /** Whether capture never saw the parent's transcript, so that it cannot know which rules apply to it. */
  #isUnknownFork({ isObserved, verdict }: Session): boolean {
    return !isObserved && verdict === 'none';
  }

  #isExcluded(session: Session): boolean {
    const { agent, folder, isObserved } = session;
    // It does not record its folder.
    if (agent === 'gemini-cli') return this.excluded.size + this.included.size > 0;
    // If the folder was gone before capture saw it, its setting is unknown.
    if (folder.says && isObserved && (folder.isThere || folder.hasSeenSays)) return true;
    if (this.included.size > 0 && ![...this.included].some((rule) => this.#isAbout(rule, session))) return true;
    return [...this.excluded].some((rule) => this.#isAbout(rule, session));
  }

  #isAbout(rule: Rule, { folder, cwd, isObserved, hasSeenRemote }: Session): boolean {
    const path = rule.replace('~', this.#home);
    if (rule === '~/link')
      return isInside(cwd, path) || (this.followed.has(rule) && folder.real === join(this.#home, 'real'));
    // A session included by its former folder or by its link's target may leave, whether or not capture still knows the folder.
    const isIncluded = this.included.has(rule) && !this.excluded.has(rule);
    if (rule.startsWith('~')) return isInside(cwd, path) || ((isObserved || isIncluded) && folder.real === path);
    const isMeant = folder.remote?.replace(':', '/').includes(rule.replace('/*', '')) ?? false;
    if (isIncluded) return isMeant;
    return isMeant && (hasSeenRemote || (folder.isThere && (folder.main?.isThere ?? true)));
  }
}
