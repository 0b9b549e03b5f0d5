/** The one line that connects a machine, by the systems it is for. */
export interface OnboardingLine {
  systems: readonly ('Linux' | 'macOS' | 'Windows')[];
  command: string;
}

/** What the line does, and what it does not. */
export const ONBOARDING =
  'It installs capture for you alone, shows where the machine is confirmed, then says what it would set up, and asks. ' +
  'Earlier sessions are sent only if you say so.';

/** How a machine comes to capture, in the words of the dashboard, of the service's start and of the README. */
export const onboarding = (address: string): readonly OnboardingLine[] => [
  { systems: ['Linux', 'macOS'], command: `curl -fsSL ${address}/install | sh` },
  { systems: ['Windows'], command: `irm ${address}/install.ps1 | iex` },
];

/** The same for a machine that is given a secret, where no browser can confirm it: to install, and then to sign in. */
export const onboardingBySecret = (address: string) => [
  {
    systems: ['Linux', 'macOS'],
    commands: [
      `curl -fsSL ${address}/install | CAPTURE_SETUP=no sh`,
      `capture login --url ${address} --ask-secret && capture init`,
    ],
  },
  {
    systems: ['Windows'],
    commands: [
      `$env:CAPTURE_SETUP = 'no'; irm ${address}/install.ps1 | iex`,
      `capture login --url ${address} --ask-secret; capture init`,
    ],
  },
];

/** The program without installing it, to see first what it would send. */
export const rehearsal = (address: string): string => `npx ${address}/capture.tgz import --dry-run`;
