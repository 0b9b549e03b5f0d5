import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Agent, AgentHooks } from '../agents/agent.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, describe } from '../failure.ts';
import { addEntries, NotEditable, removeEntries } from './edit.ts';
import { followLinks, readFile, replaceFile } from './file.ts';
import { commandOf, isOursOn, type Script, scriptPath, type Where } from './script.ts';

/** Which entries an agent's settings are to have: those that tell more than a transcript, or that start the daemon. */
export interface Wanted {
  agent: Agent;
  hooks: AgentHooks;
  script: Script;
}

/** `change`: what happens or happened to the file; `left` where it cannot be edited. */
export interface Edited {
  path: string;
  change: 'none' | 'edited' | 'created' | 'restored' | 'cleaned' | 'removed' | 'left';
  /** Why it is left alone, as half a sentence. */
  reason?: string;
  /** What a person would have to add. */
  snippet?: string;
}

/** The entries that carry facts no transcript holds (`hook`), or that can start the daemon (`start`). */
export const findHooks = ({ agents }: Pick<Context, 'agents'>, script: Script): Wanted[] =>
  agents.flatMap((agent) => {
    const hooks = script === 'hook' ? agent.hooks : agent.startHook;
    return hooks ? [{ agent, hooks, script }] : [];
  });

/**
 * Puts our entries into the settings; the file from before is kept beside capture's state. Without `isWritten` it only
 * says what would become of them.
 */
export function installHooks(context: Where, wanted: Wanted, isWritten: boolean): Edited {
  const { path, copy, isOurs, add } = prepare(context, wanted);
  try {
    const bytes = readFile(path);
    const text = decode(bytes);
    const after = add(text);
    if (bytes && after === text) return { path, change: 'none' };
    if (isWritten) {
      if (bytes === undefined) rmSync(copy, { force: true });
      else if (removeEntries(text, isOurs) === text) replaceFile(copy, bytes, 0o600);
      replaceFile(path, after, 0o600);
    }
    return { path, change: bytes ? 'edited' : 'created' };
  } catch (error) {
    return { path, change: 'left', reason: reasonOf(error), snippet: add('') };
  }
}

/** Takes our entries out: byte for byte as it was where nobody has changed the file since. */
export function removeHooks(context: Where, wanted: Wanted): Edited {
  const { path, copy, isOurs, add } = prepare(context, wanted);
  try {
    const text = decode(readFile(path));
    const without = removeEntries(text, isOurs);
    const before = readFile(copy);
    let change: Edited['change'] = 'none';
    if (without !== text) {
      const isAsWritten = add(decode(before)) === text;
      if (!isAsWritten) replaceFile(path, without, 0o600);
      else if (before) replaceFile(path, before, 0o600);
      else rmSync(followLinks(path));
      change = !isAsWritten ? 'cleaned' : before ? 'restored' : 'removed';
    }
    rmSync(copy, { force: true });
    return { path, change };
  } catch (error) {
    // A missing file, or another program's text that is not JSON, holds none of our entries.
    const isPossiblyOurs =
      error instanceof NotEditable || error instanceof RangeError
        ? String(readFile(path)).replaceAll('\\\\', '\\').includes(scriptPath(context, wanted.script))
        : codeOf(error) !== 'ENOTSUP';
    return isPossiblyOurs ? { path, change: 'left', reason: reasonOf(error) } : { path, change: 'none' };
  }
}

function prepare(context: Where, { agent, hooks, script }: Wanted) {
  const path = hooks.path(context.variables, context.home);
  const isOurs = isOursOn(context);
  return {
    path,
    copy: join(stateFolder(context), 'hooks', `${agent.id}.${basename(path)}.before-capture`),
    isOurs,
    add: (text: string) => addEntries(text, hooks, commandOf(context, script, agent.id), isOurs),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof NotEditable) return error.message;
  // More deeply than the stack of who reads it.
  if (error instanceof RangeError) return 'it is nested too deeply';
  if (codeOf(error) === undefined) throw error;
  return `it cannot be read or written (${describe(error)})`;
}

/** Throws `NotEditable` if the file is not UTF-8. */
function decode(bytes: Buffer = Buffer.alloc(0)): string {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new NotEditable('it is not UTF-8');
  return text;
}
