import { dirname } from 'node:path';
import type { Context } from '../context.ts';
import type { Change, Refusal } from '../hooks/change.ts';
import { formatDiff, isChange, isSame } from '../hooks/change.ts';
import { planHooks } from '../hooks/plan.ts';
import { formatCount } from '../output.ts';
import { type DaemonPlan, planDaemon, type Starter } from './daemon.ts';
import type { FoundAgent } from './found.ts';
import { describeProgram, type LastingProgram, planProgram } from './lasting-program.ts';
import { createMask, type Mask } from './mask.ts';

/** All that `capture init` is about to do. */
export interface Preview {
  agents: PlannedAgent[];
  daemon: DaemonPlan;
  /** What the daemon is started from. */
  program: LastingProgram;
  /** For what is shown of the files. */
  mask: Mask;
}

export interface PlannedAgent extends FoundAgent {
  files: (Change | Refusal)[];
}

export async function preview(
  context: Context,
  agents: readonly FoundAgent[],
  options: { daemon: boolean },
): Promise<Preview> {
  const planned = agents.map((agent) => ({ ...agent, files: planHooks(context, agent.row) }));
  return {
    agents: planned,
    daemon: await planDaemon(context, options),
    program: planProgram(context),
    mask: createMask(context),
  };
}

/** Every file that would be touched, or is left alone. */
export const filesOf = ({ agents, daemon }: Preview): (Change | Refusal)[] => [
  ...agents.flatMap(({ files }) => files),
  ...(daemon.file ? [daemon.file] : []),
];

export const changesOf = (planned: Preview): Change[] =>
  filesOf(planned)
    .filter(isChange)
    .filter((change) => !isSame(change));

export function describePreview(planned: Preview): string[] {
  return [
    ...filesOf(planned).flatMap((file) =>
      isChange(file) ? formatDiff(file, planned.mask).split('\n') : describeRefusal(file),
    ),
    // Last, where one is asked: the differences fill many screens.
    ...planned.agents.map(describeAgent),
    STARTERS[planned.daemon.starter],
    ...(planned.daemon.starter === 'none' ? [] : describeProgram(planned.program)),
  ];
}

const STARTERS: { readonly [starter in Starter]: string } = {
  systemd: "Daemon: a unit of systemd (the person's own) runs `capture run`.",
  launchd: 'Daemon: an agent of launchd runs `capture run`.',
  task: 'Daemon: a scheduled task runs `capture run` when you sign in.',
  'run-key': 'Daemon: Windows starts `capture run` when you sign in.',
  hook: 'Daemon: the first hook that rings starts `capture run`; nothing here could keep it running.',
  none: 'Daemon: none is set up. `capture run` captures while it runs.',
};

function describeAgent({ name, version, program, folder, files }: PlannedAgent): string {
  const what = `${name}${version ? ` ${version}` : ''} (${program ?? folder})`;
  if (files.length === 0) return `${what}: needs no hook, its sessions are looked for every two seconds.`;
  const refused = files.filter((file) => !isChange(file)).length;
  if (refused === files.length) return `${what}: its hooks cannot be installed.`;
  const isDone = files.every((file) => !isChange(file) || isSame(file));
  const changed = files.filter((file) => isChange(file) && !isSame(file)).map(({ path }) => path);
  const where =
    changed.length === 1 ? changed[0] : `${formatCount(changed.length, 'file')} in ${dirname(changed[0] ?? '')}`;
  return `${what}: ${isDone ? 'has its hooks already.' : `gets hooks in ${where}.`}`;
}

export const describeRefusal = ({ path, reason, snippet }: Refusal): string[] => [
  `${path} is left alone: ${reason}. What would have to be in it:`,
  ...snippet
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`),
  '',
];
