/** Short notations for the tool calls of both agents, so that the stories stay readable. */
import type { Call } from './scenario.ts';

type Status = 'pending' | 'in_progress' | 'completed';

/** Claude Code's tools, for a project in the given folder. */
export function claudeTools(folder: string) {
  const at = (path: string): string => `${folder}/${path}`;
  return {
    bash: (command: string, description: string): Call => ({ tool: 'Bash', input: { command, description } }),
    read: (path: string): Call => ({ tool: 'Read', input: { file_path: at(path) } }),
    write: (path: string, content: string): Call => ({ tool: 'Write', input: { file_path: at(path), content } }),
    edit: (path: string, before: string, after: string): Call => ({
      tool: 'Edit',
      input: { file_path: at(path), old_string: before, new_string: after },
    }),
    grep: (pattern: string, more: Record<string, unknown> = {}): Call => ({
      tool: 'Grep',
      input: { pattern, output_mode: 'content', '-n': true, ...more },
    }),
    glob: (pattern: string): Call => ({ tool: 'Glob', input: { pattern } }),
    todo: (...items: [Status, string, string][]): Call => ({
      tool: 'TodoWrite',
      input: { todos: items.map(([status, content, activeForm]) => ({ content, status, activeForm })) },
    }),
    task: (subject: string, description: string, activeForm: string): Call => ({
      tool: 'TaskCreate',
      input: { subject, description, activeForm },
    }),
    move: (taskId: string, status: Status): Call => ({ tool: 'TaskUpdate', input: { taskId, status } }),
    agent: (description: string, prompt: string, type = 'Explore'): Call => ({
      tool: 'Agent',
      input: { description, prompt, subagent_type: type, run_in_background: false },
    }),
  };
}

/** Codex's tools in the form that models up to GPT-5.5 use. */
export const codexTools = {
  run: (cmd: string): Call => ({ tool: 'exec_command', input: { cmd } }),
  patch: (...lines: string[]): Call => ({ tool: 'apply_patch', input: patchText(lines) }),
  plan: (explanation: string, ...items: [Status, string][]): Call => ({
    tool: 'update_plan',
    input: { explanation, plan: items.map(([status, step]) => ({ step, status })) },
  }),
};

/** Codex's tools in the form that newer models use: JavaScript that calls the tools, and agents addressed by name. */
export const codexCode = {
  run: (cmd: string): Call => ({
    tool: 'exec',
    input: `const result = await tools.exec_command(${JSON.stringify({ cmd })});\ntext(result.output);\n`,
  }),
  runAll: (...commands: string[]): Call => ({
    tool: 'exec',
    input: `const results = await Promise.all(${JSON.stringify(commands, null, 2)}.map((cmd) => tools.exec_command({ cmd })));
for (const { output } of results) text(output);
`,
  }),
  patch: (...lines: string[]): Call => ({
    tool: 'exec',
    input: `const patch = ${JSON.stringify(patchText(lines))};\nawait tools.apply_patch(patch);\ntext('patched');\n`,
  }),
  collaborate: (tool: string, input: Record<string, unknown>): Call => ({ tool, namespace: 'collaboration', input }),
};

const patchText = (lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
