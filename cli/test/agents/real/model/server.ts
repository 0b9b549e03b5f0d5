import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AnthropicRequest, answerAnthropic, readAnthropicPrompts } from './anthropic.ts';
import { answerChat, readChat } from './chat.ts';
import { answerGemini, readGemini } from './gemini.ts';
import { answerOpenai, type OpenaiRequest, readOpenaiPrompts } from './responses.ts';
import { createTokenMeter } from './tokens.ts';
import { type Call, type Json, list, type Step } from './wire.ts';

/** In a prompt, makes the model take so long that the test can interrupt the agent. */
export const SLOW = 'take your time';
const SLOW_MS = 60_000;
/** In a prompt, makes the model pause once it has the tool's answer. */
export const PAUSE = 'think before you answer';
const PAUSE_MS = 8_000;

const COMMAND = 'echo written-by-a-tool > out.txt && cat out.txt';

/** The input for each agent's shell tool, by the tool's name. */
const TOOLS: { [name: string]: Call['input'] } = {
  exec_command: { cmd: COMMAND },
  shell_command: { command: COMMAND },
  shell: { command: ['bash', '-lc', COMMAND] },
  bash: { command: COMMAND, description: 'write a file' },
  Bash: { command: COMMAND, description: 'write a file' },
  run_shell_command: { command: COMMAND, description: 'write a file', is_background: false },
  run_commands: { commands: [COMMAND] },
  execute_command: { command: COMMAND, requires_approval: false },
};

interface Request {
  tools: string[];
  /** The texts of user messages. */
  texts: string[];
  /** Whether the last message is the result of a tool. */
  isAnswered: boolean;
}

/**
 * A model server on loopback that speaks the agents' wire formats. In each turn it asks for one command, and sends a closing
 * message once it has the answer. Everything else is done by the real agents.
 */
export async function startModel() {
  const measure = createTokenMeter();
  let slowRequests = 0;
  const histories: string[][] = [];

  async function answer(body: Json, path: string, response: ServerResponse): Promise<void> {
    const wire = wireOf(path);
    if (wire === undefined) return reply(response, /countTokens/.test(path) ? { totalTokens: 100 } : { data: [] });
    const request = READ[wire](body);
    const prompt = request.texts.at(-1) ?? '';
    histories.push(request.texts);
    if (prompt.includes(SLOW)) {
      slowRequests++;
      await sleep(SLOW_MS, undefined, { ref: false });
    }
    if (prompt.includes(PAUSE) && request.isAnswered) await sleep(PAUSE_MS, undefined, { ref: false });
    const step = stepFor(request);
    const usage = measure(JSON.stringify(body), step);
    const model = String(body.model ?? /models\/([^:]+):/.exec(path)?.[1]);
    if (/:generateContent/.test(path)) return replyGemini(response, { model, step, usage });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const sendData = (data: object | string) =>
      void response.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
    const send = (type: string, data: object) =>
      void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    if (wire === 'anthropic') answerAnthropic({ model, step, usage, send });
    else if (wire === 'responses') answerOpenai({ model, step, usage, send });
    else (wire === 'chat' ? answerChat : answerGemini)({ model, step, usage, send: sendData });
    response.end();
  }

  const server = createServer((request, response) => {
    readBody(request)
      .then((body) => answer(body, request.url ?? '', response))
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The number of requests with the text that makes the model slow. */
    slowRequests: () => slowRequests,
    /** The texts of the user messages that came before one with this text, in the last request with it. */
    historyOf: (text: string): string[] => histories.findLast((texts) => texts.some((one) => one.includes(text))) ?? [],
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

function stepFor({ tools, isAnswered }: Request): Step {
  const tool = Object.keys(TOOLS).find((name) => tools.includes(name));
  if (isAnswered || tool === undefined) return { say: 'All done.' };
  return { say: 'I will write the file.', calls: [{ tool, input: TOOLS[tool] ?? {} }] };
}

const READ = {
  anthropic: (body: Json): Request => ({
    tools: list(body.tools).map(({ name }) => String(name)),
    texts: readAnthropicPrompts(body as unknown as AnthropicRequest),
    isAnswered: list(list(body.messages).at(-1)?.content).some(({ type }) => type === 'tool_result'),
  }),
  responses: (body: Json): Request => ({
    tools: list(body.tools).map(({ name, type }) => String(name ?? type)),
    texts: readOpenaiPrompts(body as unknown as OpenaiRequest),
    isAnswered: /_output$/.test(String(list(body.input).at(-1)?.type)),
  }),
  chat: readChat,
  gemini: readGemini,
};

function wireOf(path: string): keyof typeof READ | undefined {
  if (/\/chat\/completions/.test(path)) return 'chat';
  if (/\/responses(\?|$)/.test(path)) return 'responses';
  if (/:(streamGenerateContent|generateContent)/.test(path)) return 'gemini';
  return /\/messages(\?|$)/.test(path) ? 'anthropic' : undefined;
}

/** Answers side requests, such as for a title, without streaming. */
function replyGemini(
  response: ServerResponse,
  { model, step, usage }: Omit<Parameters<typeof answerGemini>[0], 'send'>,
) {
  const pieces: object[] = [];
  answerGemini({ model, step: { say: step.say }, usage, send: (data) => void pieces.push(data as object) });
  reply(response, pieces[0] ?? {});
}

function reply(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Json) : {};
}
