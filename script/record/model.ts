/**
 * A model server on loopback that answers from a script.
 *
 * The recorded agents are real: they build the requests, run the tools and write the session files. Only the model's answers are
 * ours, so that a recording needs no account and tells the same story every time.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AnthropicRequest, answerAnthropic, readAnthropicPrompts } from './model-anthropic.ts';
import { answerOpenai, type OpenaiRequest, readOpenaiPrompts } from './model-openai.ts';
import type { Step, SubAgent } from './scenario.ts';
import { createTokenMeter, tokensOfStep } from './tokens.ts';

/** Milliseconds per token, and the longest time of an answer: fast, but slow enough that no two records share a second. */
const PACE = { first: 350, perToken: 11, ceiling: 7_000 };

export type Model = {
  url: string;
  /** Queues the next answers of the main conversation. */
  expect(steps: Step[]): void;
  /** The number of queued answers of the main conversation. */
  pending(): number;
  /** The number of answers that were never requested, including sub-agents'; if it is not zero, agent and script disagree. */
  leftover(): number;
  /** Requests that arrived after the script had ended. */
  surprises(): string[];
  close(): void;
};

export async function createModel(subAgents: SubAgent[] = []): Promise<Model> {
  const main: Step[] = [];
  const children = subAgents.map(({ task, steps }) => ({ task, steps: [...steps] }));
  const surprises: string[] = [];
  const measure = createTokenMeter();

  function nextStep(prompts: string[]): { conversation: string; step: Step } {
    const child = children.find(({ task }) => prompts.some((prompt) => prompt.includes(task)));
    const step = (child?.steps ?? main).shift();
    if (!step) surprises.push(prompts.at(-1)?.slice(0, 200) ?? '(no prompt)');
    return { conversation: child?.task ?? 'main', step: step ?? { say: 'Done.' } };
  }

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const path = request.url ?? '';
    const wire = path.includes('/messages') ? 'anthropic' : path.includes('/responses') ? 'openai' : undefined;
    if (request.method !== 'POST' || !wire || path.includes('count_tokens')) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const parsed = JSON.parse(body) as AnthropicRequest & OpenaiRequest;
    const prompts = wire === 'anthropic' ? readAnthropicPrompts(parsed) : readOpenaiPrompts(parsed);
    const { conversation, step } = nextStep(prompts);
    const usage = measure(conversation, body, step);
    await sleep(PACE.first + (step.wait ?? 0) * 1000);
    const pause = Math.min(PACE.ceiling, tokensOfStep(step) * PACE.perToken);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type: string, data: object): void => {
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    const answer = wire === 'anthropic' ? answerAnthropic : answerOpenai;
    await answer({ model: parsed.model, step, usage, send, pause });
    response.end();
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    expect: (steps) => void main.push(...steps),
    pending: () => main.length,
    leftover: () => main.length + children.reduce((sum, child) => sum + child.steps.length, 0),
    surprises: () => surprises,
    close: () => server.close(),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
