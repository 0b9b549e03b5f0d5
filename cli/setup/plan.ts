import { existsSync } from 'node:fs';
import { formatCount } from '../../contract/count.ts';
import type { Agent } from '../agents/agent.ts';
import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { type Edited, findHooks, installHooks, type Wanted } from '../hooks/install.ts';
import { commandOf } from '../hooks/script.ts';
import { tilde } from '../paths.ts';
import { readConsent } from '../privacy/consent.ts';
import { findHistory, type History } from './history.ts';
import { findSupervisor, type Supervisor } from './supervisors.ts';
import { findPasswords } from './variables.ts';

export interface PlanOptions {
  /** Whether a daemon is to be set up. */
  daemon: boolean;
  /** Whether settings of agents may be changed. */
  hooks: boolean;
  /** Whether to ask about earlier sessions again. */
  isHistoryAsked: boolean;
}

/** Everything that `capture init` is about to do. */
export interface Plan {
  /** The agents that have a folder on this machine. */
  agents: Agent[];
  /** Entries for facts that no transcript contains. */
  hooks: { wanted: Wanted; edited: Edited }[];
  /** Whether a daemon is to run. */
  daemon: boolean;
  /** The system's supervisor that keeps it running, if there is one. */
  supervisor: Supervisor | undefined;
  /** Undefined if this is not the time to decide. */
  history: History | undefined;
}

/** Examines the machine. Writes nothing, and runs no agent. */
export function planSetup(context: Context, options: PlanOptions): Plan {
  const { variables, home } = context;
  const agents = context.agents.filter((agent) =>
    [agent.folder?.(variables, home) ?? '', ...agent.roots(variables, home)].some((path) => existsSync(path)),
  );
  const here = { agents: options.hooks ? agents : [] };
  const supervisor = options.daemon ? findSupervisor(context) : undefined;
  return {
    ...{ agents, daemon: options.daemon, supervisor },
    hooks: findHooks(here).map((wanted) => ({ wanted, edited: installHooks(context, wanted, false) })),
    history: readConsent(context)?.isByPerson && !options.isHistoryAsked ? undefined : findHistory(context),
  };
}

const EXPERIMENTAL = 'Capture is experimental on this system: so far it has only been run on Linux.';

/** Describes the plan in a few lines. */
export function describePlan(context: Context, { agents, hooks, daemon, supervisor }: Plan): string[] {
  const short = (path: string) => tilde(path, context.home);
  const file = supervisor ? `: ${short(supervisor.file.path(context))}` : '';
  return [
    ...(context.platform === 'linux' ? [] : [EXPERIMENTAL]),
    `Agents found: ${namesOf(agents)}. Their session files are read in place. Nothing is copied or moved.`,
    ...hooks.flatMap(({ wanted, edited }) => describeHooks(context, wanted, edited)),
    ...(hooks.length === 0 ? ['Nothing in your agents will be changed.'] : []),
    ...(supervisor ? [`${supervisor.name} keeps capture running${file}.`] : []),
    ...(daemon && !supervisor ? ['capture will run in the background.'] : []),
    `It will keep its own files in ${short(stateFolder(context))}.`,
    'Your organization decides who sees your sessions; `capture visibility private` keeps new ones to yourself.',
  ];
}

/** Lists each name once, because several agents may be variants of one. */
export const namesOf = (agents: readonly Agent[]): string =>
  [...new Set(agents.map(({ displayName }) => displayName))].join(', ') || 'none yet';

function describeHooks(context: Context, { agent, hooks }: Wanted, edited: Edited): string[] {
  const { change, reason, snippet = '' } = edited;
  const path = tilde(edited.path, context.home);
  const name = agent.displayName;
  if (change === 'none') return [`${path} already has the hooks that ${name} needs.`];
  if (change === 'left') {
    const sentence = `${path} is left alone: ${reason}. To capture what ${name} does not record itself, add this:`;
    return [sentence, ...snippet.trimEnd().replace(/^/gm, '    ').split('\n')];
  }
  const example = JSON.stringify(hooks.entry(tilde(commandOf(context, agent.id), context.home)));
  const count = formatCount(hooks.events.length, 'entry', 'entries');
  return [
    `${path} gets ${count}, since ${name} records neither times nor the results of tools. One of them: ${example}`,
  ];
}

/** Settings that the daemon will not have. */
export function findWarnings({ variables, home }: Context, { daemon, supervisor }: Plan): string[] {
  if (!daemon) return [];
  const { secret } = readSettings({ home, variables: { ...variables, CAPTURE_SECRET: undefined } });
  const names = supervisor ? findPasswords(variables).join(' and ') : '';
  const login = 'CAPTURE_SECRET is set in this shell only. Run `capture login`, so that the daemon has it too.';
  const proxy = `${names} contains a password, so the daemon does not get it. If the daemon needs it, use an address without a password.`;
  return [...(secret === undefined ? [login] : []), ...(names ? [proxy] : [])];
}
