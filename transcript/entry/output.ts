import { asArray, asNumber, asObject, asParsedObject, asText, type Loose, toJson } from './value.ts';

/*
 * Tools that run commands say in the text of their output how the command ended, or that it still runs. A later call of another
 * tool then gets the rest of its output.
 */

/** The output of a call, without the words of its tool. */
export interface ToolOutput {
  text: string;
  exitCode?: number;
  /** The command still runs, under this name. */
  running?: string;
  /** The tool refused the call, or a script ended with an error. */
  failed?: true;
}

export function readOutput(output: unknown): ToolOutput {
  const blocks = typeof output === 'string' ? [output] : asArray(output).map((block) => asText(asObject(block).text));
  const [first] = blocks;
  const header = first === undefined ? null : SCRIPT.exec(first);
  if (!header || blocks.includes(undefined)) {
    const text = outputText(output);
    return { text, ...readProcess(text) };
  }
  const [whole, end, cell] = header;
  const rest = [(first as string).slice(whole.length), ...blocks.slice(1)].filter((block) => block) as string[];
  const results = readResults(rest);
  if (cell !== undefined) return { ...results, running: `cell ${cell}` };
  return end === 'failed' ? { ...results, failed: true } : results;
}

/** A tool's output as text: content blocks are concatenated, anything else is JSON. */
function outputText(output: unknown): string {
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
  const { text } = readOutput(payload.output);
  if (text !== '') return text;
  const { aggregated_output, stdout, stderr } = asObject(payload.detail);
  const streams = [asText(aggregated_output) ?? asText(stdout), asText(stderr)];
  return streams.filter(Boolean).join('\n');
}

/** The name of the running command to which a call belongs: it waits for the command, or writes to it. */
export function runningOf(name: string, input: unknown): string | undefined {
  const kind = Object.hasOwn(CONTINUES, name) ? CONTINUES[name] : undefined;
  if (kind === undefined) return undefined;
  const id = asParsedObject(input)[kind.field];
  return typeof id === 'string' || typeof id === 'number' ? `${kind.of} ${id}` : undefined;
}

const CONTINUES: { readonly [tool: string]: { field: string; of: string } } = {
  write_stdin: { field: 'session_id', of: 'session' },
  wait: { field: 'cell_id', of: 'cell' },
  BashOutput: { field: 'bash_id', of: 'task' },
  TaskOutput: { field: 'task_id', of: 'task' },
  read_bash: { field: 'shellId', of: 'shell' },
  write_bash: { field: 'shellId', of: 'shell' },
};

/** Codex 0.144 and later run tools from a script. The output begins with the end of the script. */
const SCRIPT = /^Script (completed|failed|running with cell ID (\S+))[^\n]*\n(?:Wall time [^\n]*\n)?(?:Output:\n*)?/;
const EXIT_CODE = /^\s*exit(?:[ _]?code)?\s?[=:]\s?(-?\d{1,10})\s*$/i;

/**
 * What a script printed: its texts, and the results of commands that it printed as JSON. Of several commands, the one that
 * failed counts.
 */
function readResults(blocks: readonly string[]): ToolOutput {
  const exitCodes: number[] = [];
  let running: string | undefined;
  const texts = blocks.map((block) => {
    const results = resultsIn(block);
    for (const { exit_code: exitCode, session_id: session } of results) {
      const code = asNumber(exitCode);
      if (code !== undefined) exitCodes.push(code);
      else if (session !== undefined && session !== null) running = `session ${session}`;
    }
    const printed = EXIT_CODE.exec(block)?.[1];
    if (printed !== undefined) exitCodes.push(Number(printed));
    return results.length > 0 ? results.map(({ output }) => output).join('\n') : block;
  });
  const exitCode = exitCodes.find((code) => code !== 0) ?? exitCodes[0];
  return {
    text: texts.join('\n'),
    ...(exitCode !== undefined && { exitCode }),
    ...(running !== undefined && { running }),
  };
}

/** The results of commands in a printed JSON text: one, a list of them, or by name. */
function resultsIn(block: string): Loose[] {
  if (!/^\s*[[{]/.test(block) || !block.includes('"output"')) return [];
  try {
    const value: unknown = JSON.parse(block);
    const all = isResult(value) ? [value] : Object.values(asArray(value).length > 0 ? asArray(value) : asObject(value));
    const results = all.map((one) => (asObject(one).status === 'fulfilled' ? asObject(one).value : one));
    return results.every(isResult) ? results.map(asObject) : [];
  } catch {
    return [];
  }
}

const isResult = (value: unknown): boolean => {
  const { output, exit_code: exitCode, session_id: session, chunk_id: chunk } = asObject(value);
  return typeof output === 'string' && (exitCode ?? session ?? chunk) !== undefined;
};

/** The messages of `apply_patch` when it changed nothing. */
const REFUSED = /^(?:apply_patch verification failed:|patch rejected:?)/;
const CODEX =
  /^(?:Chunk ID: \S+\n)?(?:Wall time: [^\n]*\n)?Process (?:exited with code (-?\d+)|running with session ID (\S+))/;
const CLAUDE_CODE = /^Command running in background with ID: ([\w-]+)/;
const CLAUDE_CODE_TASK = /^<retrieval_status>[^<]*<\/retrieval_status>\s*<task_id>([^<]*)<\/task_id>([\s\S]{0,300})/;
const COPILOT = /<shellId: (\S+) completed with exit code (-?\d+)>\s*$/;
const COPILOT_RUNNING = /<command with shellId: (\S+) is still running/;

function readProcess(text: string): Omit<ToolOutput, 'text'> {
  if (REFUSED.test(text)) return { failed: true };
  const codex = CODEX.exec(text);
  if (codex) return codex[1] === undefined ? { running: `session ${codex[2]}` } : { exitCode: Number(codex[1]) };
  const started = CLAUDE_CODE.exec(text)?.[1];
  if (started !== undefined) return { running: `task ${started}` };
  const task = CLAUDE_CODE_TASK.exec(text);
  if (task) {
    const code = /<exit_code>(-?\d+)<\/exit_code>/.exec(task[2] ?? '')?.[1];
    return code === undefined ? { running: `task ${task[1]}` } : { exitCode: Number(code) };
  }
  const end = text.slice(-200);
  const code = COPILOT.exec(end)?.[2];
  if (code !== undefined) return { exitCode: Number(code) };
  const shell = COPILOT_RUNNING.exec(end)?.[1];
  return shell === undefined ? {} : { running: `shell ${shell}` };
}
