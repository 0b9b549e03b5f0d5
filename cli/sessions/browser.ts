import { type Context, childEnvironment } from '../context.ts';

const OPENERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  // `start` is a word of the shell, to which an address is a line of words.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Hands an address to the person's browser; false where there is none to be had, such as on a machine without a screen. */
export async function openInBrowser(
  { spawn, variables, platform, home }: Pick<Context, 'spawn' | 'variables' | 'platform' | 'home'>,
  address: string,
): Promise<boolean> {
  const hasScreen = platform === 'darwin' || platform === 'win32' || variables.DISPLAY || variables.WAYLAND_DISPLAY;
  // WSL has a browser outside, which `xdg-open` may know.
  if (!hasScreen && !variables.BROWSER && !variables.WSL_DISTRO_NAME) return false;
  const [program = '', ...args] = OPENERS[platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], {
    cwd: home,
    env: childEnvironment(variables),
    stdio: 'ignore',
    detached: true,
    windowsHide: true,
  });
  child.unref();
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      // It ends at once where it finds no browser; one that goes on has found it.
      const settled = setTimeout(() => resolve(true), SETTLED_MS);
      child.once('exit', (code) => {
        clearTimeout(settled);
        resolve(code === 0);
      });
    });
  });
}

const SETTLED_MS = 1500;
