import { readSettings, stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { isDaemonRunning } from '../daemon/control.ts';
import { type Edited, planHooks, startHooks, tellingHooks, type Wanted } from '../hooks/install.ts';
import { formatCount } from '../output.ts';
import { type Consent, readConsent } from '../privacy/consent.ts';
import { type FoundAgent, findAgents } from './agents.ts';
import { type DaemonPlan, planDaemon, readStarter } from './daemon.ts';
import { findHistory, type History, tilde } from './history.ts';
import { findTemporary } from './program.ts';
import { findPasswords } from './variables.ts';

export interface PlanOptions {
  /** Whether a daemon is to be set up. */
  daemon: boolean;
  /** Whether settings of agents may be changed. */
  hooks: boolean;
  /** Whether earlier sessions are looked for although somebody has decided about them. */
  isHistoryAsked: boolean;
}

/** All that `capture init` is about to do. */
export interface Plan {
  agents: FoundAgent[];
  /** Entries for what no transcript holds. */
  hooks: { wanted: Wanted; edited: Edited }[];
  /** Undefined where none is to be set up. */
  daemon: DaemonPlan | undefined;
  /** Whose hook could start the daemon, where nothing of the system does. */
  startHook: Wanted | undefined;
  /** What was decided about earlier sessions, if it was. */
  consent: Consent | undefined;
  /** Undefined where it is not to be decided now. */
  history: History | undefined;
  /** Whether all of it is there already, and the daemon runs. */
  isDone: boolean;
}

/** Looks at the machine; writes nothing, and runs no agent. */
export async function planSetup(context: Context, options: PlanOptions): Promise<Plan> {
  const agents = findAgents(context);
  const isHere = ({ agent }: Wanted) => agents.some((found) => found.agent === agent);
  const wanted = options.hooks ? tellingHooks(context).filter(isHere) : [];
  const hooks = wanted.map((each) => ({ wanted: each, edited: planHooks(context, each) }));
  const daemon = options.daemon ? await planDaemon(context) : undefined;
  const hasNobody = daemon !== undefined && daemon.supervisor === undefined;
  const isPosix = context.platform !== 'win32';
  const startHook = options.hooks && hasNobody && isPosix ? startHooks(context).find(isHere) : undefined;
  const consent = readConsent(context);
  const starter = readStarter(stateFolder(context));
  const isKept = starter === 'process' || starter === 'hook' ? hasNobody : starter === daemon?.supervisor?.kind;
  return {
    ...{ agents, hooks, daemon, startHook, consent },
    history: consent === undefined || options.isHistoryAsked ? findHistory(context) : undefined,
    isDone:
      daemon !== undefined &&
      isKept &&
      isDaemonRunning(stateFolder(context)) &&
      (daemon.file?.change ?? 'none') === 'none' &&
      hooks.every(({ edited }) => edited.change === 'none') &&
      consent !== undefined &&
      !options.isHistoryAsked,
  };
}

/** What is about to be done, in some lines. */
export function describePlan(context: Context, { agents, hooks, daemon }: Plan): string[] {
  const short = (path: string) => tilde(path, context.home);
  return [
    `Agents here: ${namesOf(agents)}. What they write is read where it is.`,
    ...hooks.flatMap(({ wanted, edited }) => describeHooks(wanted, { ...edited, path: short(edited.path) })),
    ...(hooks.length === 0 ? ['Nothing in your agents is changed.'] : []),
    ...(daemon === undefined ? [] : [describeDaemonPlan(daemon, short)]),
    `capture keeps its own files in ${short(stateFolder(context))}.`,
  ];
}

/** Each name once: several agents may be kinds of one. */
export const namesOf = (agents: readonly FoundAgent[]): string =>
  [...new Set(agents.map(({ agent }) => agent.displayName))].join(', ') || 'none yet';

function describeHooks({ agent, hooks }: Wanted, { path, change, reason, snippet = '' }: Edited): string[] {
  const name = agent.displayName;
  if (change === 'none') return [`${path} has the entries that it needs to tell what ${name} does.`];
  if (change === 'left') {
    return [
      `${path} is left alone: ${reason}. ${name}'s sessions lack what tools answered until this is in it:`,
      ...snippet
        .trimEnd()
        .split('\n')
        .map((line) => `    ${line}`),
    ];
  }
  return [
    `${path} gets ${formatCount(hooks.events.length, 'entry', 'entries')}, since ${name} writes down neither times nor what ` +
      `tools answered. One of them: ${JSON.stringify(hooks.entry('~/.capture/bin/hook'))}`,
  ];
}

function describeDaemonPlan({ supervisor, file }: DaemonPlan, short: (path: string) => string): string {
  if (supervisor === undefined) return 'capture runs in the background from now on, until this machine is restarted.';
  return `${supervisor.name} keeps capture running in the background${file ? `: ${short(file.path)}` : ''}.`;
}

/** What a daemon will not have, or not for long. */
export function findWarnings(context: Context, { daemon }: Plan): string[] {
  if (daemon === undefined) return [];
  const stored = readSettings({ ...context, variables: { ...context.variables, CAPTURE_SECRET: undefined } });
  const names = findPasswords(context.variables).join(' and ');
  const [temporary] = findTemporary(context.program);
  return [
    ...(stored.secret === undefined
      ? [
          'CAPTURE_SECRET is set in this shell only. Run `capture login`, so that the daemon has it after a restart, too.',
        ]
      : []),
    ...(names !== '' && daemon.supervisor
      ? [
          `${names} holds a password, which is not handed to ${daemon.supervisor.name}. If the service is behind that ` +
            'proxy, give the daemon an address without one.',
        ]
      : []),
    ...(temporary ? [`${temporary} is in a temporary folder. Once it is gone, nothing is captured.`] : []),
  ];
}
