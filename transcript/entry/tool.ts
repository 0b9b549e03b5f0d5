import type { ToolCall } from './script.ts';
import { asParsedObject, firstLine } from './value.ts';

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

/** One line for the calls of a script. Their tools are named, unless they run commands. */
export const aboutCalls = (calls: readonly ToolCall[]): string =>
  firstLine(
    calls.map(({ name, input }) => `${name === 'exec_command' ? '' : `${name} `}${aboutCall(input)}`).join('; '),
  );
