import { join } from 'node:path';
import { isInside } from '../paths.ts';
import type { Consent } from '../privacy/consent.ts';
import type { Said, Session } from './consent-agents.ts';

export type Rule = '~/plain' | '~/link' | '~/real' | '~/tree' | 'git.example.com/me/*' | 'github.com/acme';
export const RULES: Rule[] = ['~/plain', '~/link', '~/real', '~/tree', 'git.example.com/me/*', 'github.com/acme'];

/** What the person has said, and so what may leave the machine: the model that capture is compared with. */
export class Wishes {
  readonly excluded = new Set<Rule>();
  readonly included = new Set<Rule>();
  /** Rules by a link that capture has followed. */
  readonly followed = new Set<Rule>();
  history: Consent['history'] = 'none';
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
  }

  lettable({ said, agent, cwd }: Session): Said[] {
    const history = this.history;
    // Gemini CLI does not say where it works.
    const isChosen = Array.isArray(history) && agent !== 'gemini-cli' && history.some((each) => isInside(cwd, each));
    return said.filter(({ isEarlier, isPaused }) => !isPaused && (!isEarlier || history === 'all' || isChosen));
  }

  mayGo(session: Session): boolean {
    if (session.isLost || this.#isExcluded(session)) return false;
    if (session.verdict !== 'none') return session.verdict === 'wanted';
    return this.#parentsOf(session).every((parent) => this.mayGo(parent) || this.#isUnknownFork(parent));
  }

  /** Codex says where a fork comes from; of others the records that they have in common tell it. */
  #parentsOf(session: Session): Session[] {
    if (session.agent === 'codex') return session.parent === undefined ? [] : [session.parent];
    return [...new Set(session.said.map(({ author }) => author))].filter((author) => author !== session);
  }

  /** A session whose transcript capture never saw tells nobody what it was. */
  #isUnknownFork({ isObserved, verdict }: Session): boolean {
    return !isObserved && verdict === 'none';
  }

  #isExcluded(session: Session): boolean {
    const { agent, folder, isObserved } = session;
    // It does not say where it works.
    if (agent === 'gemini-cli') return this.excluded.size + this.included.size > 0;
    // What a link led to that was gone before capture saw it, nobody can tell.
    if (folder.says && isObserved && (folder.isThere || folder.hasSeenSays)) return true;
    if (this.included.size > 0 && ![...this.included].some((rule) => this.#isAbout(rule, session))) return true;
    return [...this.excluded].some((rule) => this.#isAbout(rule, session));
  }

  #isAbout(rule: Rule, { folder, cwd, isObserved, hasSeenRemote }: Session): boolean {
    const path = rule.replace('~', this.#home);
    if (rule === '~/link')
      return isInside(cwd, path) || (this.followed.has(rule) && folder.real === join(this.#home, 'real'));
    // What is included by what the folder was, or by where its link leads, may go, whoever remembers it.
    const isIncluded = this.included.has(rule) && !this.excluded.has(rule);
    if (rule.startsWith('~')) return isInside(cwd, path) || ((isObserved || isIncluded) && folder.real === path);
    const isMeant = folder.remote?.replace(':', '/').includes(rule.replace('/*', '')) ?? false;
    if (isIncluded) return isMeant;
    return isMeant && (hasSeenRemote || (folder.isThere && (folder.main?.isThere ?? true)));
  }
}
