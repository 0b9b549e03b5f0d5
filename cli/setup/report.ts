import { type Change, formatDiff, isChange, isSame, type Refusal } from '../hooks/change.ts';
import type { Done } from './carry-out.ts';
import type { Mask } from './mask.ts';
import type { PlannedAgent, Preview } from './preview.ts';

/** What `capture init --json` answers: before it is done, and after. */
export function reportOf({ agents, daemon, mask }: Preview, done?: Done): object {
  return {
    dryRun: done === undefined,
    agents: agents.map((agent) => reportAgent(agent, mask, done)),
    daemon: { starter: done?.starter ?? daemon.starter, ...(daemon.file && { file: reportFile(daemon.file, mask) }) },
    ...(done && {
      codexTrust: done.codexTrust,
      registered: done.registered !== undefined,
      ...(done.registered && { environmentId: done.registered.environmentId }),
    }),
  };
}

function reportAgent(agent: PlannedAgent, mask: Mask, done: Done | undefined): object {
  const { row, name, version, program, isFound, files } = agent;
  const installationId = done?.registered?.installations[row.id];
  return {
    agent: row.id,
    name,
    found: isFound,
    ...(version && { version }),
    ...(program && { program }),
    files: files.map((file) => reportFile(file, mask)),
    ...(done && { installed: done.installed.includes(row.id) }),
    ...(installationId && { installationId }),
  };
}

function reportFile(file: Change | Refusal, mask: Mask): object {
  const { path } = file;
  if (!isChange(file)) return { path, change: 'refused', reason: file.reason, snippet: file.snippet };
  const change = isSame(file) ? 'none' : file.bytes === undefined ? 'created' : 'edited';
  return { path, change, diff: formatDiff(file, mask) };
}
