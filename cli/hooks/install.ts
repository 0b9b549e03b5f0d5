import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Agent, AgentHooks } from '../agents/agent.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { codeOf, describe } from '../failure.ts';
import { addEntries, hasEntries, NotEditable, removeEntries } from './edit.ts';
import { followLinks, readFile, replaceFile } from './file.ts';
import { commandOf, isOursOn, type Script, scriptPath } from './script.ts';

type Where = Pick<Context, 'variables' | 'home' | 'platform'>;

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

/** The entries that carry what no transcript of the agent's holds. */
export const tellingHooks = ({ agents }: Pick<Context, 'agents'>): Wanted[] =>
  agents.flatMap((agent) => (agent.hooks ? [{ agent, hooks: agent.hooks, script: 'hook' as const }] : []));

/** The entries by which an agent can start the daemon. */
export const startHooks = ({ agents }: Pick<Context, 'agents'>): Wanted[] =>
  agents.flatMap((agent) => (agent.startHook ? [{ agent, hooks: agent.startHook, script: 'start' as const }] : []));

/** What is to become of the settings. Writes nothing. */
export const planHooks = (context: Where, wanted: Wanted): Edited => change(context, wanted, false);

/** Puts our entries into the settings. The file from before is kept beside capture's state. */
export const installHooks = (context: Where, wanted: Wanted): Edited => change(context, wanted, true);

function change(context: Where, wanted: Wanted, isWritten: boolean): Edited {
  const { hooks, script, agent } = wanted;
  const path = hooks.path(context.variables, context.home);
  const isOurs = isOursOn(context);
  const command = commandOf(context, script, agent.id);
  try {
    const bytes = readFile(path);
    const { mark, text } = decode(bytes);
    const after = addEntries(text, hooks, command, isOurs);
    if (bytes && after === text) return { path, change: 'none' };
    if (isWritten) {
      const copy = copyPath(context, wanted);
      if (bytes === undefined) rmSync(copy, { force: true });
      else if (!hasEntries(text || '{}', isOurs)) replaceFile(copy, bytes, 0o600);
      replaceFile(path, mark + after, 0o600);
    }
    return { path, change: bytes ? 'edited' : 'created' };
  } catch (error) {
    return { path, change: 'left', reason: reasonOf(error), snippet: addEntries('', hooks, command, isOurs) };
  }
}

/** Takes our entries out: byte for byte as it was where nobody has changed the file since. */
export function removeHooks(context: Where, wanted: Wanted): Edited {
  const { hooks, script, agent } = wanted;
  const path = hooks.path(context.variables, context.home);
  const isOurs = isOursOn(context);
  const copy = copyPath(context, wanted);
  try {
    const bytes = readFile(path);
    const { mark, text } = decode(bytes);
    if (bytes === undefined || text.trim() === '' || !hasEntries(text, isOurs)) return forget('none');
    const before = readFile(copy);
    const earlier = decode(before);
    const command = commandOf(context, script, agent.id);
    if (earlier.mark + addEntries(earlier.text, hooks, command, isOurs) === mark + text) {
      if (before) replaceFile(path, before, 0o600);
      else rmSync(followLinks(path));
      return forget(before ? 'restored' : 'removed');
    }
    replaceFile(path, mark + removeEntries(text, isOurs), 0o600);
    return forget('cleaned');
  } catch (error) {
    if (!isPossiblyOurs(error)) return forget('none');
    return { path, change: 'left', reason: reasonOf(error) };
  }

  /** What is no file holds none of ours, and another's text that is no JSON does not either. */
  function isPossiblyOurs(error: unknown): boolean {
    if (!(error instanceof NotEditable)) return codeOf(error) !== 'ENOTSUP';
    return String(readFile(path)).replaceAll('\\\\', '\\').includes(scriptPath(context, script));
  }

  function forget(outcome: Edited['change']): Edited {
    rmSync(copy, { force: true });
    return { path, change: outcome };
  }
}

const copyPath = (context: Where, { agent, hooks }: Wanted): string =>
  join(
    stateFolder(context),
    'hooks',
    `${agent.id}.${basename(hooks.path(context.variables, context.home))}.before-capture`,
  );

function reasonOf(error: unknown): string {
  if (error instanceof NotEditable) return error.message;
  if (codeOf(error) === undefined) throw error;
  return `it cannot be read or written (${describe(error)})`;
}

/** Takes the mark apart that some editors begin a file with. Throws `NotEditable` for what is not UTF-8. */
function decode(bytes: Buffer | undefined): { mark: string; text: string } {
  const text = (bytes ?? Buffer.alloc(0)).toString('utf8');
  if (bytes && !Buffer.from(text).equals(bytes)) throw new NotEditable('it is not UTF-8');
  return text.startsWith('\ufeff') ? { mark: '\ufeff', text: text.slice(1) } : { mark: '', text };
}
