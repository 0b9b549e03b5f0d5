import { asNumber, asParsedObject } from './value.ts';

/*
 * Codex 0.145 and later run tools from a script, the tool `exec`. Its output begins with the result of the script. The exit
 * code of a command is in the JSON that the script printed.
 */

const HEADER = /^Script (completed|failed)\b[^\n]*\n(?:Wall time [^\n]*\n)?(?:Output:\n+)?/;
/** The messages of `apply_patch` when it changed nothing. */
const REFUSED = /^(?:apply_patch verification failed:|patch rejected:?)/;

/** The outcome of a script or patch, from its output; empty if the output belongs to neither. */
export function outcomeOfScript(output: string): { failed?: true; exitCode?: number } {
  if (REFUSED.test(output)) return { failed: true };
  const [header, end] = HEADER.exec(output) ?? [];
  if (header === undefined) return {};
  if (end === 'failed') return { failed: true };
  const exitCode = asNumber(asParsedObject(output.slice(header.length)).exit_code);
  return exitCode === undefined ? {} : { exitCode };
}
