import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';

/** Exit codes after which a restart changes nothing: a usage error, and a missing sign-in. */
export const FINAL_EXITS: readonly number[] = [EXIT.usage, EXIT.signInRequired];

/** Set if launchd runs the daemon. */
export const SUPERVISOR_VARIABLE = 'CAPTURE_SUPERVISOR';

/** launchd restarts a job after every exit code but 0 (launchd.plist(5), `SuccessfulExit`), so a final exit uses 0 there. */
export const exitCodeFor = (code: number, variables: Context['variables']): number =>
  variables[SUPERVISOR_VARIABLE] === 'launchd' && FINAL_EXITS.includes(code) ? 0 : code;
