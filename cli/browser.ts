import { type Context, childEnvironment } from './context.ts';

const OPENERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  // `start` belongs to the shell, which would split an address into words.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** It ends at once if it finds no browser; if it still runs after this, it found one. */
const SETTLED_MS = 1500;

/** Hands an address to the person's browser; false where there is none to be had, such as on a machine without a screen. */
export async function openInBrowser(
  { spawn, variables, platform, home }: Pick<Context, 'spawn' | 'variables' | 'platform' | 'home'>,
  address: string,
): Promise<boolean> {
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
