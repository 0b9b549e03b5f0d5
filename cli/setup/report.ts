import { type Change, formatDiff, isChange, isSame, type Refusal } from '../hooks/change.ts';
import type { Done } from './carry-out.ts';
import type { PlannedAgent, Preview } from './preview.ts';

/** What `capture init --json` answers: before it is done, and after. */
export function reportOf({ agents, daemon }: Preview, done?: Done): object {
  return {
    dryRun: done === undefined,
    agents: agents.map((agent) => reportAgent(agent, done)),
    daemon: { starter: done?.starter ?? daemon.starter, ...(daemon.file && { file: reportFile(daemon.file) }) },
    ...(done && {
      codexTrust: done.codexTrust,
      registered: done.registered !== undefined,
      ...(done.registered && { environmentId: done.registered.environmentId }),
    }),
  };
}

function reportAgent({ row, name, version, program, isFound, files }: PlannedAgent, done: Done | undefined): object {
  const installationId = done?.registered?.installations[row.id];
  return {
    agent: row.id,
    name,
    found: isFound,
    ...(version && { version }),
    ...(program && { program }),
    files: files.map(reportFile),
    ...(done && { installed: done.installed.includes(row.id) }),
    ...(installationId && { installationId }),
  };
}

function reportFile(file: Change | Refusal): object {
  const { path } = file;
  if (!isChange(file)) return { path, change: 'refused', reason: file.reason, snippet: file.snippet };
  const change = isSame(file) ? 'none' : file.bytes === undefined ? 'created' : 'edited';
  return { path, change, diff: formatDiff(file) };
}
