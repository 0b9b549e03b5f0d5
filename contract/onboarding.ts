import { powerShellWord, shellWord } from './quote.ts';

/** The one line that connects a machine, and the systems that it is for. */
export interface OnboardingLine {
  systems: readonly ('Linux' | 'macOS' | 'Windows')[];
  command: string;
  /** Name of the script in `SHA256SUMS`. */
  file: 'install' | 'install.ps1';
}

/** What the line does, and what it does not do. */
export const ONBOARDING =
  'It installs capture for you alone, shows where the machine is confirmed, then says what it would set up, and asks. ' +
  'Earlier sessions are sent only if you say so.';

/** With https, curl follows no redirect to an unencrypted address, and accepts no TLS older than 1.2. */
const fetchCommand = (address: string): string =>
  address.startsWith('https:') ? "curl --proto '=https' --tlsv1.2 -fsSL" : 'curl -fsSL';

const script = (address: string) => `${fetchCommand(address)} ${shellWord(`${address}/install`)}`;
const windowsScript = (address: string) => `irm ${powerShellWord(`${address}/install.ps1`)}`;

/** How a person connects a machine, in the words of the dashboard, of the service's start and of the README. */
export const onboarding = (address: string): readonly OnboardingLine[] => [
  { systems: ['Linux', 'macOS'], command: `${script(address)} | sh`, file: 'install' },
  { systems: ['Windows'], command: `${windowsScript(address)} | iex`, file: 'install.ps1' },
];

/** The same for a machine that gets a secret because no browser can confirm it: first install, then sign in. */
export const onboardingBySecret = (address: string) => [
  {
    systems: ['Linux', 'macOS'],
    commands: [
      `${script(address)} | CAPTURE_SETUP=no sh`,
      `capture login --url ${shellWord(address)} --ask-secret && capture init`,
    ],
  },
  {
    systems: ['Windows'],
    commands: [
      `$env:CAPTURE_SETUP = 'no'; ${windowsScript(address)} | iex`,
      `capture login --url ${powerShellWord(address)} --ask-secret; capture init`,
    ],
  },
];

/** Runs the program without installing it, to see first what it would send. */
export const rehearsal = (address: string): string => `npx ${shellWord(`${address}/capture.tgz`)} import --dry-run`;
