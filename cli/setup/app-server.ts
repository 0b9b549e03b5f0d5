import { createInterface } from 'node:readline';
import type { Context } from '../context.ts';

/** Codex's own server, which its editors' extensions use: JSON-RPC, a message a line. */
export interface AppServer {
  /** Throws what the server answers with, and when it does not answer. */
  call(method: string, params: object): Promise<unknown>;
  stop(): void;
}

const ANSWER_MS = 30_000;

export async function startAppServer(
  { spawn, variables, home }: Pick<Context, 'spawn' | 'variables' | 'home'>,
  program: string,
): Promise<AppServer> {
  const child = spawn(program, ['app-server'], { cwd: home, env: variables, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let failure: Error | undefined;
  let last = 0;

  function fail(error: Error): void {
    failure ??= error;
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  }

  child.once('error', fail);
  child.once('close', () => fail(new Error('Codex ended before it answered')));
  child.stdin.once('error', fail);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseMessage(line);
    const answer = typeof message?.id === 'number' ? waiting.get(message.id) : undefined;
    if (message === undefined || answer === undefined) return;
    waiting.delete(Number(message.id));
    if (message.error === undefined) answer.resolve(message.result);
    else answer.reject(new Error(message.error.message ?? 'Codex refused'));
  });

  async function call(method: string, params: object): Promise<unknown> {
    if (failure) throw failure;
    const id = ++last;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    child.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    const timer = setTimeout(() => fail(new Error('Codex did not answer')), ANSWER_MS);
    return answer.promise.finally(() => clearTimeout(timer));
  }

  const stop = () => void child.kill();
  try {
    await call('initialize', { clientInfo: { name: 'session-capture', version: '0' } });
    child.stdin.write(`${JSON.stringify({ method: 'initialized' })}\n`);
  } catch (error) {
    stop();
    throw error;
  }
  return { call, stop };
}

interface Message {
  id?: unknown;
  result?: unknown;
  error?: { message?: string };
}

function parseMessage(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}
