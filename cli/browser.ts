import { type Context, childEnvironment } from './context.ts';

const OPENERS: { readonly [platform: string]: readonly string[] } = {
  darwin: ['open'],
  // `start` belongs to the shell, which would split an address into words.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** The command ends at once if it finds no browser. If it still runs after this time, it found one. */
const SETTLED_MS = 1500;

/** Opens an address in the person's browser. Returns false if there is no browser, for instance on a machine without a screen. */
export async function openInBrowser(
  { spawn, variables, platform, home }: Pick<Context, 'spawn' | 'variables' | 'platform' | 'home'>,
  address: string,
): Promise<boolean> {
  const hasScreen = platform in OPENERS || variables.DISPLAY || variables.WAYLAND_DISPLAY;
  // On WSL, `xdg-open` may know the browser outside.
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
