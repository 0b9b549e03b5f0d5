import type { AddOnKind } from '../../contract/names.ts';
import { asObject, asParsedObject, asText, type Loose } from './value.ts';

export interface AddOn {
  kind: Exclude<AddOnKind, 'plugin'>;
  /** The name of an MCP server, of a skill with the prefix of its plugin, or the type of a sub-agent. */
  name: string;
}

const SKILL_TOOLS = /^(?:skill|activate_skill|use_skill)$/i;
const SUBAGENT_TOOLS = /^(?:task|agent|subagent|spawn_agent|delegate_to_agent|invoke_agent)$/i;
/** Tools of Cline and Cursor that can call any MCP server. */
const MCP_TOOLS = /^(?:use_mcp_tool|use_mcp_server|callmcptool)$/i;

/**
 * The add-on that a call uses, if the call names it.
 * @param rest of the record: Copilot CLI and Codex name the server there
 */
export function addOnOfCall(name: string, input: unknown, rest: unknown): AddOn | undefined {
  const server = serverOf(name) ?? serverOfRecord(asObject(rest));
  if (server !== undefined) return named('mcp', server);
  if (!SKILL_TOOLS.test(name) && !SUBAGENT_TOOLS.test(name) && !MCP_TOOLS.test(name)) return undefined;
  const given = asParsedObject(input);
  if (MCP_TOOLS.test(name)) return named('mcp', given.server_name ?? given.serverName ?? given.server);
  if (SKILL_TOOLS.test(name)) return named('skill', given.skill ?? given.name ?? given.command ?? given.id);
  const type = given.subagent_type ?? given.agent_type ?? given.agent_name ?? given.agent;
  const begins = asText(given.prompt) ?? asText(given.message);
  return named('subagent', type ?? (begins === undefined ? undefined : 'default'));
}

/** A slash command that calls the model. It is a skill, or was turned into one. */
export const addOnOfCommand = (command: string): AddOn | undefined => named('skill', /^\/(\S+)/.exec(command)?.[1]);

/**
 * The server in the name of a tool: `mcp__server__tool` of Claude Code, Codex, Qwen Code and Kimi, `server__tool` and
 * `server___tool` of older Codex and Droid, and `mcp_server_tool` of Gemini CLI, whose servers have no underscore. OpenCode's
 * `server_tool` does not show where the server's name ends.
 */
const serverOf = (tool: string): string | undefined =>
  (/^mcp__(.+?)__./.exec(tool) ??
    /^mcp_([^_]+)_./.exec(tool) ??
    /^(?!mcp__)([a-z\d][\w-]*?)__+[a-z\d]/i.exec(tool))?.[1];

function serverOfRecord({ mcpServerName, data, payload }: Loose): string | undefined {
  const namespace = asText(asObject(payload).namespace) ?? '';
  const server = /^mcp__(.+?)(?:__)?$/.exec(namespace)?.[1];
  return server ?? asText(mcpServerName) ?? asText(asObject(data).mcpServerName);
}

/**
 * The plugin of an add-on: Claude Code writes `plugin:skill`, and `plugin_name_server` for a server. A folder of commands has
 * the same form.
 */
export function pluginOf({ kind, name }: AddOn): string | undefined {
  if (kind === 'mcp') return /^plugin[_:]([^_:]+)[_:]./.exec(name)?.[1];
  return /^([^:\s]+):./.exec(name)?.[1];
}

/** The add-ons that Claude Code lists to its model, whether they are used or not. */
export function listedAddOns({ kind, text, rest }: Loose): AddOn[] {
  const attachment = asObject(asObject(rest).attachment);
  const type = asText(attachment.type) ?? asText(kind) ?? '';
  const read = Object.hasOwn(LISTS, type) ? LISTS[type] : undefined;
  const all = (read?.({ content: text, ...attachment }) ?? []).filter((addOn) => addOn !== undefined);
  return [...new Map(all.map((addOn) => [`${addOn.kind} ${addOn.name}`, addOn])).values()].slice(0, MAX_LISTED);
}

const MAX_LISTED = 200;

const LISTS: Record<string, (attachment: Loose) => (AddOn | undefined)[]> = {
  skill_listing: ({ names, content }) =>
    (textsOf(names).length > 0 ? textsOf(names) : namesIn(asText(content) ?? '')).map((name) => named('skill', name)),
  agent_listing_delta: ({ addedTypes }) => textsOf(addedTypes).map((name) => named('subagent', name)),
  deferred_tools_delta: ({ addedNames }) =>
    textsOf(addedNames).map((name) => (name.startsWith('mcp__') ? named('mcp', serverOf(name)) : undefined)),
};

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** The names in lines of the form `- name: `, one for each skill. The text of a description has no lines of this form. */
const namesIn = (content: string): string[] =>
  [...content.matchAll(/^- ([\w.-]+(?::[\w.-]+)*): /gm)].map(([, name]) => name as string);

const MAX_NAME = 100;

function named(kind: AddOn['kind'], value: unknown): AddOn | undefined {
  const name = asText(value)?.trim().slice(0, MAX_NAME).toWellFormed();
  return name ? { kind, name } : undefined;
}
