import type { NewEvent } from '../../contract/event.ts';
import { createPassages, createRandom } from '../text.ts';

const START = Date.parse('2026-11-18T08:00:00Z');
const TOOLS = ['Bash', 'Read', 'Grep', 'Edit', 'Glob', 'WebFetch'];

/**
 * A realistic session: turns with a prompt, reasoning, calls with long outputs, answers in Markdown and usage. Some calls fail,
 * some start sub-agents, the context is compacted, and the person is sometimes away for hours.
 */
export function makeSession(count: number, start = START): NewEvent[] {
  const random = createRandom(11);
  const passage = createPassages(11);
  const events: NewEvent[] = [];
  let time = start;
  let calls = 0;
  let context = 20_000;
  const add = (eventType: string, fields: object, subagent?: string) => {
    time += Math.ceil(random() * 4_000);
    const position = events.length * 100;
    const source = {
      agent: 'claude-code',
      session: 'bench',
      file: 'projects/a.jsonl',
      position,
      ...(subagent && { subagent }),
    };
    events.push({ eventType, payload: { source, occurredAt: new Date(time).toISOString(), ...fields } });
  };
  const text = (most: number) => passage(Math.ceil(20 + random() ** 2 * most)).replaceAll('\u0000', '');
  const call = (subagent?: string) => {
    const callId = `call-${calls++}`;
    const name = TOOLS[Math.floor(random() * TOOLS.length)] ?? 'Bash';
    const path = `/home/dev/code/app/src/part${Math.floor(random() * 40)}.ts`;
    const input =
      name === 'Edit'
        ? { file_path: path, old_string: text(200), new_string: text(300) }
        : name === 'Bash'
          ? { command: `npm test -- ${text(60)}` }
          : { file_path: path, pattern: text(20) };
    add('tool.call', { callId, name, input }, subagent);
    const failed = random() < 0.04;
    const more = failed ? { isError: true, exitCode: 1 } : {};
    add('tool.result', { callId, output: text(random() < 0.02 ? 60_000 : 3_000), ...more }, subagent);
  };
  for (let turn = 0; events.length < count; turn++) {
    add('user.message', { text: text(900) });
    const steps = 3 + Math.floor(random() * 14);
    for (let step = 0; step < steps; step++) {
      if (random() < 0.4) add('assistant.reasoning', { text: text(500) });
      for (let each = Math.ceil(random() * 5); each > 0; each--) call();
      context += 4_000;
      add('usage', {
        responseId: `r${events.length}`,
        inputTokens: context,
        outputTokens: 400,
        model: 'claude-opus-5',
        cached: 'included',
      });
      if (random() < 0.35) add('assistant.message', { text: `## Step ${step}\n\n${text(1_500)}` });
      if (random() < 0.2) add('record', { kind: 'progress', rest: { note: text(80) } });
    }
    if (context > 180_000) {
      add('compaction', { trigger: 'auto', tokensBefore: context, summary: text(3_000) });
      context = 30_000;
    }
    if (random() < 0.1) {
      const subagent = `agent-${turn}`;
      const callId = `call-${calls++}`;
      add('tool.call', { callId, name: 'Task', input: { description: 'Look for the cause' } });
      add('subagent.started', { subagent, callId, agentType: 'Explore', description: 'Look for the cause' });
      for (let each = 0; each < 12; each++) call(subagent);
      add('subagent.finished', { subagent, callId, result: 'found' });
      add('tool.result', { callId, output: text(600) });
    }
    add('assistant.message', { text: text(2_500) });
    if (random() < 0.03) time += 6 * 3_600_000;
  }
  return events.slice(0, count);
}
