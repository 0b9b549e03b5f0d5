import { expect, test } from 'vitest';
import { addOnOfCall, addOnOfCommand, listedAddOns, pluginOf } from './add-on.ts';

const copilot = { data: { mcpServerName: 'github-mcp-server', mcpToolName: 'list_issues' } };

test.each([
  ['Claude Code', 'mcp__playwright__browser_click', {}, undefined, 'mcp playwright'],
  ['Claude Code', 'mcp__plugin_datadog_mcp__search_logs', {}, undefined, 'mcp plugin_datadog_mcp'],
  ['Claude Code', 'Skill', { skill: 'superpowers:brainstorming' }, undefined, 'skill superpowers:brainstorming'],
  ['Claude Code 2.0', 'Skill', { command: 'pdf' }, undefined, 'skill pdf'],
  ['Claude Code', 'Task', { subagent_type: 'Explore', prompt: 'Look' }, undefined, 'subagent Explore'],
  ['Claude Code', 'Agent', { prompt: 'Look', description: 'x' }, undefined, 'subagent default'],
  ['Codex', 'context7__resolve-library-id', '{}', undefined, 'mcp context7'],
  ['Codex', 'search', '{}', { payload: { namespace: 'mcp__docs__' } }, 'mcp docs'],
  ['Codex', 'spawn_agent', '{"agent_type":"explorer","message":"Look"}', undefined, 'subagent explorer'],
  ['Codex', 'spawn_agent', '{"message":"Look"}', undefined, 'subagent default'],
  ['Gemini CLI', 'mcp_github_list_issues', {}, undefined, 'mcp github'],
  ['Gemini CLI', 'activate_skill', { name: 'skill-creator' }, undefined, 'skill skill-creator'],
  ['Copilot CLI', 'list_issues', {}, copilot, 'mcp github-mcp-server'],
  ['Copilot CLI', 'skill', { skill: 'writing-plans' }, undefined, 'skill writing-plans'],
  ['OpenCode', 'task', { subagent_type: 'general', prompt: 'Look' }, undefined, 'subagent general'],
  ['OpenCode 2', 'subagent', { agent: 'explore', description: 'x', prompt: 'Look' }, undefined, 'subagent explore'],
  ['OpenCode 2', 'skill', { id: 'pricing' }, undefined, 'skill pricing'],
  ['Droid', 'linear___list_issues', {}, undefined, 'mcp linear'],
  ['Cline', 'use_mcp_tool', { server_name: 'memory', tool_name: 'read' }, undefined, 'mcp memory'],
])('%s: %s uses an add-on', (_, name, input, rest, expected) => {
  const addOn = addOnOfCall(name, input, rest);
  expect(`${addOn?.kind} ${addOn?.name}`).toBe(expected);
});

test.each([
  ['Bash', { command: 'ls' }],
  ['__proto__', {}],
  ['mcp__', {}],
  ['mcp__server', {}],
  ['Skill', { skill: 7 }],
  ['Skill', '{'],
  ['Task', { task: 'tidy' }],
  ['context7_search', {}],
])('%s with %j does not use an add-on', (name, input) => {
  expect(addOnOfCall(name, input, undefined)).toBeUndefined();
});

test('a name has at most 100 characters, and never half of a surrogate pair', () => {
  const name = addOnOfCall('Skill', { skill: `${'x'.repeat(99)}😀` }, undefined)?.name;
  expect(name).toBe(`${'x'.repeat(99)}\ufffd`);
});

test('a command that calls the model is a skill, and a shell line is not', () => {
  expect(addOnOfCommand('/gsd:progress now')).toEqual({ kind: 'skill', name: 'gsd:progress' });
  expect(addOnOfCommand('! ls')).toBeUndefined();
});

test('a prefix names the plugin', () => {
  expect(pluginOf({ kind: 'skill', name: 'superpowers:brainstorming' })).toBe('superpowers');
  expect(pluginOf({ kind: 'mcp', name: 'plugin_datadog_mcp' })).toBe('datadog');
  expect(pluginOf({ kind: 'mcp', name: 'playwright' })).toBeUndefined();
  expect(pluginOf({ kind: 'skill', name: ':x' })).toBeUndefined();
});

test('lists of Claude Code contain the add-ons that its model may use', () => {
  const listed = (attachment: object) =>
    listedAddOns({ rest: { attachment } }).map(({ kind, name }) => `${kind} ${name}`);
  expect(listed({ type: 'skill_listing', content: '- seo: Search\n  - no\n- a:b: Both' })).toEqual([
    'skill seo',
    'skill a:b',
  ]);
  expect(listed({ type: 'skill_listing', names: ['seo'], content: '- other: x' })).toEqual(['skill seo']);
  // The parser uses the content as the event's text.
  expect(listedAddOns({ kind: 'skill_listing', text: '- seo: Search', rest: {} })).toEqual([
    { kind: 'skill', name: 'seo' },
  ]);
  expect(listed({ type: 'agent_listing_delta', addedTypes: ['Explore', 7] })).toEqual(['subagent Explore']);
  expect(listed({ type: 'deferred_tools_delta', addedNames: ['Bash', 'mcp__a__x', 'mcp__a__y'] })).toEqual(['mcp a']);
  expect(listed({ type: 'constructor' })).toEqual([]);
});
