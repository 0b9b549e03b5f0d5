import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Debian's Firefox. Playwright needs a later version, so the tests use its own protocol, WebDriver BiDi. */
export const FIREFOX = '/usr/bin/firefox-esr';

/** A window of Firefox. */
export interface FirefoxTab {
  /** Errors of the page and its console. */
  problems: string[];
  open(url: string): Promise<void>;
  resize(width: number, height: number): Promise<void>;
  /** @returns the value of the expression or of its promise, as JSON */
  evaluate<Value>(expression: string): Promise<Value>;
  /** Waits until the expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Clicks the middle of the first element. */
  click(selector: string): Promise<void>;
  /** Types keys into the focused element; a name such as `Enter` is one key. */
  type(text: string): Promise<void>;
  press(key: keyof typeof KEYS): Promise<void>;
  /** Turns the wheel over the middle of the first element. */
  wheel(selector: string, pixels: number): Promise<void>;
  picture(path: string): Promise<void>;
  close(): Promise<void>;
}

const KEYS = { Enter: '\uE007', Escape: '\uE00C', Tab: '\uE004' } as const;
const PATIENCE_MS = 30_000;

/** Preferences of a profile that sends no requests of its own. */
const QUIET = {
  'app.update.disabledForTesting': true,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.page': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'remote.active-protocols': 1,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
};

/** @param folder the folder of the profile */
export async function openFirefox(folder: string, theme: 'light' | 'dark' = 'light'): Promise<FirefoxTab> {
  const preferences = { ...QUIET, 'layout.css.prefers-color-scheme.content-override': theme === 'dark' ? 0 : 1 };
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${value});\n`);
  writeFileSync(join(folder, 'user.js'), lines.join(''));
  const args = ['--headless', '--no-remote', '--profile', folder, '--remote-debugging-port', '0'];
  const child = spawn(FIREFOX, args, { env: { ...process.env, HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      const found = /WebDriver BiDi listening on (ws:\S+)/.exec(line);
      if (found?.[1]) resolve(found[1]);
    });
    child.once('exit', (code) => reject(new Error(`Firefox ended with ${code} before it could be driven`)));
  });
  const problems: string[] = [];
  const send = await connect(`${address}/session`, (text) => problems.push(text));
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = await send<{ contexts: { context: string }[] }>('browsingContext.getTree', {});
  const context = contexts[0]?.context;

  async function evaluate<Value>(expression: string): Promise<Value> {
    const answer = await send<{ result?: { value?: string }; exceptionDetails?: { text: string } }>('script.evaluate', {
      ...{ expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))` },
      ...{ target: { context }, awaitPromise: true },
    });
    if (answer.exceptionDetails) throw new Error(`${expression}: ${answer.exceptionDetails.text}`);
    return JSON.parse(answer.result?.value ?? 'null') as Value;
  }
  async function until(expression: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!(await evaluate<boolean>(`Boolean(${expression})`))) {
      if (performance.now() > deadline) throw new Error(`it never came: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  /** Waits until the element exists and no longer moves, since a loading page moves it. */
  async function middleOf(selector: string): Promise<{ x: number; y: number }> {
    const element = `document.querySelector(${JSON.stringify(selector)})`;
    const read = () =>
      evaluate<{ x: number; y: number } | null>(`document.readyState !== 'complete' || !${element} ? null :
        (({ x, y, width, height }) => ({
          x: Math.round(x + width / 2), y: Math.round(y + height / 2),
        }))(${element}.getBoundingClientRect())`);
    const deadline = performance.now() + PATIENCE_MS;
    for (let before = await read(); performance.now() < deadline; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const place = await read();
      if (place && place.x === before?.x && place.y === before.y) return place;
      before = place;
    }
    throw new Error(`it never stood still: ${selector}`);
  }
  const act = (type: string, actions: object[]) =>
    send('input.performActions', { context, actions: [{ type, id: type, actions }] });
  const typeKeys = (keys: readonly string[]) =>
    act(
      'key',
      keys.flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]),
    );

  return {
    problems,
    evaluate,
    until,
    async open(url) {
      await send('browsingContext.navigate', { context, url, wait: 'complete' });
    },
    async resize(width, height) {
      await send('browsingContext.setViewport', { context, viewport: { width, height } });
    },
    async click(selector) {
      const place = await middleOf(selector);
      await act('pointer', [
        { type: 'pointerMove', ...place },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ]);
    },
    async type(text) {
      await typeKeys([...text]);
    },
    async press(key) {
      await typeKeys([KEYS[key]]);
    },
    async wheel(selector, pixels) {
      await act('wheel', [{ type: 'scroll', ...(await middleOf(selector)), deltaX: 0, deltaY: pixels }]);
    },
    async picture(path) {
      const { data } = await send<{ data: string }>('browsingContext.captureScreenshot', { context });
      writeFileSync(path, Buffer.from(data, 'base64'));
    },
    async close() {
      await send('browser.close', {}).catch(() => child.kill());
      await ended;
    },
  };
}

type Send = <Result = unknown>(method: string, params: object) => Promise<Result>;

interface Message {
  id?: number;
  method?: string;
  error?: string;
  message?: string;
  result?: unknown;
  params?: { level?: string; text?: string };
}

async function connect(address: string, onProblem: (text: string) => void): Promise<Send> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else if (message.params?.level === 'error') onProblem(message.params.text ?? '');
  });
  let last = 0;
  return async <Result>(method: string, params: object): Promise<Result> => {
    const id = ++last;
    const answer = await new Promise<Message>((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
    waiting.delete(id);
    if (answer.error) throw new Error(`${method}: ${answer.error}: ${answer.message}`);
    return answer.result as Result;
  };
}
