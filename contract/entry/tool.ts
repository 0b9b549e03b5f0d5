import { asArray, asObject, asParsedObject, asText, firstLine, toJson } from './value.ts';

/** Input fields that say what a call is about, the most informative ones first. */
const TELLING = [
  'command',
  'cmd',
  'commands',
  'file_path',
  'filePath',
  'path',
  'notebook_path',
  'pattern',
  'query',
  'url',
  'description',
  'subject',
  'task_name',
  'prompt',
  'message',
  'explanation',
  'input',
];

/** One line that says what a call is about. */
export function aboutCall(input: unknown): string {
  const fields = asParsedObject(input);
  const names = Object.keys(fields);
  if (names.length === 0) return typeof input === 'string' ? firstLine(input) : '';
  for (const name of TELLING) {
    const value = fields[name];
    if (typeof value === 'string' && value.trim() !== '') return firstLine(value);
    if (Array.isArray(value) && value.every((word) => typeof word === 'string')) return firstLine(value.join(' '));
  }
  return firstLine(names.map((name) => `${name}: ${inWords(fields[name])}`).join(', '));
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.length === 1 ? '1 item' : `${value.length} items`;
  return typeof value === 'object' && value !== null ? '{…}' : String(value).slice(0, 60);
}

/** A tool's output as text: content blocks are concatenated, anything else is JSON. */
export function outputText(output: unknown): string {
  if (output === undefined || output === null) return '';
  if (typeof output === 'string') return output;
  if (Array.isArray(output)) return asArray(output).map(blockText).join('\n');
  const { text, content } = asObject(output);
  if (typeof text === 'string') return text;
  if (typeof content === 'string') return content;
  return toJson(output);
}

function blockText(block: unknown): string {
  if (typeof block === 'string') return block;
  const { text, type } = asObject(block);
  const kind = asText(type) ?? '';
  if (typeof text === 'string') return text;
  return kind.includes('image') ? '[image]' : toJson(block);
}

/** The output, or the agent's separate copy of it: the structured copies of Claude Code and Codex contain the streams. */
export function resultText(payload: { output?: unknown; detail?: unknown }): string {
  const text = outputText(payload.output);
  if (text !== '') return text;
  const { aggregated_output, stdout, stderr } = asObject(payload.detail);
  const streams = [asText(aggregated_output) ?? asText(stdout), asText(stderr)];
  return streams.filter(Boolean).join('\n');
}
