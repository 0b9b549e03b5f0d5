import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Agent, AgentHooks } from '../agents/agent.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, describe } from '../failure.ts';
import { addEntries, NotEditable, removeEntries } from './edit.ts';
import { followLinks, readFile, replaceFile } from './file.ts';
import { commandOf, isOursOn, scriptPath, type Where } from './script.ts';

/** The entries that an agent's settings should have, because they report more than a transcript. */
export interface Wanted {
  agent: Agent;
  hooks: AgentHooks;
}

/** `change`: the past or planned change of the file. `left` if it cannot be edited. */
export interface Edited {
  path: string;
  change: 'none' | 'edited' | 'created' | 'restored' | 'cleaned' | 'removed' | 'left';
  /** Why the file is left alone, as half a sentence. */
  reason?: string;
  /** The text that a person would have to add. */
  snippet?: string;
}

/** The entries with facts that no transcript contains. */
export const findHooks = ({ agents }: Pick<Context, 'agents'>): Wanted[] =>
  agents.flatMap((agent) => (agent.hooks ? [{ agent, hooks: agent.hooks }] : []));

/**
 * Adds our entries to the settings, and keeps a copy of the original file beside capture's state. Without `isWritten`, it
 * only returns the planned change.
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

/** Removes our entries. If nobody has changed the file since, it is restored byte for byte. */
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
    // A missing file, or another program's text that is not JSON, contains none of our entries.
    const isPossiblyOurs =
      error instanceof NotEditable || error instanceof RangeError
        ? String(readFile(path)).replaceAll('\\\\', '\\').includes(scriptPath(context))
        : codeOf(error) !== 'ENOTSUP';
    return isPossiblyOurs ? { path, change: 'left', reason: reasonOf(error) } : { path, change: 'none' };
  }
}

function prepare(context: Where, { agent, hooks }: Wanted) {
  const path = hooks.path(context.variables, context.home);
  const isOurs = isOursOn(context);
  return {
    path,
    copy: join(stateFolder(context), 'hooks', `${agent.id}.${basename(path)}.before-capture`),
    isOurs,
    add: (text: string) => addEntries(text, hooks, commandOf(context, agent.id), isOurs),
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof NotEditable) return error.message;
  // The nesting is deeper than the reader's stack.
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
