import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'jsonc-parser';
import type { AgentId } from '../../contract/agent.ts';
import type { JsonObject } from '../agents/agent.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { isTrusted } from '../setup/codex-config.ts';
import { type FoundAgent, findAgents } from '../setup/found.ts';
import type { AgentHooks, Retention } from './agent-hooks.ts';
import { AGENT_HOOKS } from './all.ts';
import { type Change, decode, isChange, isSame, type Refusal } from './change.ts';
import { parseDocument } from './document.ts';
import { readBytes } from './file.ts';
import { findOurs, type IsOurs } from './merge.ts';
import { isOursOn, planHooks } from './plan.ts';

/** What can be said of an agent's hooks on this machine. */
export interface HookState {
  agent: AgentId;
  /** As people call it. */
  name: string;
  /** Whether its program or its folder is there. */
  found: boolean;
  /** Absolute path of the program. */
  program?: string;
  version?: string;
  /** The files its hooks stand in; none for an agent whose sessions are found by looking only. */
  files: string[];
  /** `none`: there are no hooks to install. `unparsable`: a file cannot be read as what it should be. */
  hooks: 'installed' | 'partial' | 'missing' | 'unparsable' | 'none';
  /** Why installed hooks do not run: which setting of which file. */
  disabled?: string;
  /** Codex alone: whether it was told to run our hooks. */
  trusted?: boolean;
  /** When a hook last rang, in milliseconds since 1970. */
  lastFiredAt?: number;
  /** After how long the agent deletes its transcripts. */
  retention?: Retention;
}

export interface InspectOptions {
  /** Stands before the absolute paths of an organization's policies: for tests. */
  root?: string;
  /** Whether to ask the agents' programs for their versions, which takes some of them seconds. */
  asksVersions?: boolean;
}

/** Looks at every agent that has hooks or could have, and writes nothing. */
export async function inspectHooks(
  context: Context,
  { root = '', asksVersions = true }: InspectOptions = {},
): Promise<HookState[]> {
  const found = await findAgents(context, AGENT_HOOKS, asksVersions);
  return found.map((agent) => inspectAgent(context, agent, root));
}

function inspectAgent(context: Context, agent: FoundAgent, root: string): HookState {
  const { row, name, folder, isFound, program, version } = agent;
  const planned = planHooks(context, row);
  const hooks = judge(planned, isOursOn(context));
  const disabled = findSilence(context, row, folder, root);
  const retention = row.settings?.findRetention?.(readSettings(row.settings.path(folder)) ?? {});
  const lastFiredAt = statSync(join(stateFolder(context), 'notes', row.id), { throwIfNoEntry: false })?.mtimeMs;
  return {
    agent: row.id,
    name,
    found: isFound,
    ...(program && { program }),
    ...(version && { version }),
    files: planned.map(({ path }) => path),
    hooks,
    ...(disabled && { disabled }),
    ...(row.id === 'codex' &&
      (hooks === 'installed' || hooks === 'partial') && { trusted: isTrusted(context, folder) }),
    ...(lastFiredAt !== undefined && { lastFiredAt }),
    ...(retention && { retention }),
  };
}

function judge(planned: readonly (Change | Refusal)[], isOurs: IsOurs): HookState['hooks'] {
  if (planned.length === 0) return 'none';
  const changes = planned.filter(isChange);
  if (planned.some((plan) => !isChange(plan) && plan.kind === 'unparsable')) return 'unparsable';
  const isThere = changes.map(({ kind, bytes }) => bytes && (kind === 'own' || countOurs(bytes, isOurs) > 0));
  if (changes.length === planned.length && changes.every(isSame)) return 'installed';
  return isThere.some(Boolean) ? 'partial' : 'missing';
}

const countOurs = (bytes: Buffer, isOurs: IsOurs): number =>
  bytes.toString('utf8').trim() === '' ? 0 : findOurs(parseDocument(decode(bytes).text), isOurs).length;

function findSilence(context: Context, { settings }: AgentHooks, folder: string, root: string): string | undefined {
  if (settings === undefined) return undefined;
  const policies = settings.policies?.[context.platform] ?? [];
  const files = [
    { path: settings.path(folder), isPolicy: false },
    ...policies.map((path) => ({ path: root + path, isPolicy: true })),
  ];
  for (const { path, isPolicy } of files) {
    const reason = settings.findSilence(readSettings(path) ?? {}, isPolicy);
    if (reason !== undefined) return `${reason} in ${path}`;
  }
  return undefined;
}

/** Undefined where there are none, or none that can be read. */
function readSettings(path: string): JsonObject | undefined {
  try {
    const value: unknown = parse(readBytes(path)?.toString('utf8') ?? '', [], { allowTrailingComma: true });
    return typeof value === 'object' && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}
