import type { Context } from '../context.ts';
import { EXIT } from '../failure.ts';

/** Exit codes after which starting again changes nothing: a usage error, and a missing sign-in. */
export const FINAL_EXITS: readonly number[] = [EXIT.usage, EXIT.signInRequired];

/** Set where launchd runs the daemon. */
export const SUPERVISOR_VARIABLE = 'CAPTURE_SUPERVISOR';

/** launchd starts a job again after every exit but 0 (launchd.plist(5), `SuccessfulExit`), so a final exit is 0 there. */
export const exitCodeFor = (code: number, variables: Context['variables']): number =>
  variables[SUPERVISOR_VARIABLE] === 'launchd' && FINAL_EXITS.includes(code) ? 0 : code;
