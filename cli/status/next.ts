import type { HookState } from '../hooks/inspect.ts';
import type { DaemonReport } from './daemon.ts';
import type { ServiceReport } from './service.ts';
import type { SpoolReport } from './spool.ts';
import type { AgentTranscripts } from './transcripts.ts';

export interface StatusFacts {
  service: ServiceReport;
  daemon: DaemonReport;
  hooks: readonly HookState[];
  spool: SpoolReport | undefined;
  transcripts: readonly AgentTranscripts[];
  /** Why what the person set cannot be read. */
  preferencesTrouble: string | undefined;
}

/** The one command to run next; undefined where there is nothing to be done. */
export function chooseNext(facts: StatusFacts): string | undefined {
  const { service, daemon, hooks, spool, transcripts, preferencesTrouble } = facts;
  if (!service.signedIn) return 'capture login';
  if (daemon.paused) return 'capture resume';
  const isMissing = hooks.some((state) => state.found && state.hooks === 'missing');
  if (daemon.starter === undefined && !daemon.running) return 'capture init';
  const isOdd =
    daemon.crashed ||
    !service.reachable ||
    preferencesTrouble !== undefined ||
    hooks.some((state) => state.found && isBroken(state)) ||
    transcripts.some(({ troubles }) => troubles.length > 0) ||
    (spool !== undefined && (spool.notices.length > 0 || spool.refused.length > 0));
  if (isOdd) return 'capture doctor';
  if (!daemon.running && daemon.starter !== 'hook') return 'capture run';
  return isMissing ? 'capture init' : undefined;
}

const isBroken = ({ hooks, disabled, trusted }: HookState): boolean =>
  hooks === 'partial' ||
  hooks === 'unparsable' ||
  (hooks === 'installed' && (disabled !== undefined || trusted === false));
