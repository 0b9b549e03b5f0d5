import { defineCommand, flag, text } from '../command.ts';
import { readSettings } from '../config.ts';
import { type Context, childEnvironment } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { findDashboard, sessionPage } from '../inspect/service.ts';
import { chooseSession, SESSION_NAMES, withSpool } from '../sessions/choose.ts';

export const openCommand = defineCommand({
  name: 'open',
  summary: 'open a session in the dashboard',
  description: 'Opens the page of a session in the browser. The address is always printed, browser or not.',
  examples: [
    ['capture open', 'the latest session of this folder'],
    ['capture open 0199a213', 'one by its id'],
    ['capture open --print', 'its address only'],
  ],
  arguments: { session: text('[SESSION]', SESSION_NAMES) },
  options: { print: flag('--print', 'print the address, and open nothing') },
  async run(context, { session, print }, output) {
    const { url } = readSettings(context);
    if (url === undefined) {
      throw new Failure(EXIT.signInRequired, 'It is not known where the service is.', 'Sign in with `capture login`.');
    }
    const { agent, agentSession, state, serviceId } = await withSpool(context, (spool) => {
      const chosen = chooseSession(context, spool, session);
      return { ...chosen, serviceId: spool.sessions.serviceIds(chosen.id).at(-1) };
    });
    if (state === 'deleted') {
      throw new Failure(EXIT.usage, `${agent} ${agentSession} was deleted at the service.`, 'There is no page of it.');
    }
    if (serviceId === undefined) {
      const sentence = `Nothing of ${agent} ${agentSession} was sent yet, so the dashboard does not have it.`;
      throw new Failure(EXIT.temporary, sentence, 'See `capture status`.');
    }
    const address = sessionPage(await findDashboard(context, url), serviceId);
    const opened = !print && (await openInBrowser(context, address));
    output.answer({ agent, session: agentSession, serviceId, url: address, opened }, [address]);
    if (!opened && !print) output.say('No browser could be opened here: use the address.');
  },
});

const OPENERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  // `start` is a word of the shell, to which an address is a line of words.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** It ends at once where it finds no browser; one that goes on for so long has found it. */
const SETTLED_MS = 1500;

/** Hands an address to the person's browser; false where there is none to be had, such as on a machine without a screen. */
async function openInBrowser({ spawn, variables, platform, home }: Context, address: string): Promise<boolean> {
  const hasScreen = platform in OPENERS || variables.DISPLAY || variables.WAYLAND_DISPLAY;
  // WSL has a browser outside, which `xdg-open` may know.
  if (!hasScreen && !variables.BROWSER && !variables.WSL_DISTRO_NAME) return false;
  const [program = '', ...args] = OPENERS[platform] ?? ['xdg-open'];
  const options = { cwd: home, env: childEnvironment(variables), detached: true, windowsHide: true } as const;
  const child = spawn(program, [...args, address], { ...options, stdio: 'ignore' });
  child.unref();
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code === 0));
    child.once('spawn', () => setTimeout(() => resolve(true), SETTLED_MS));
  });
}
