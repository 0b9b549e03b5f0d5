/** A line to type, and what it is for. */
export interface OnboardingStep {
  about: string;
  command: string;
}

/** How a machine comes to capture, in the words of the dashboard, of the service's start and of the README. */
export const onboarding = (address: string): readonly OnboardingStep[] => [
  {
    about: 'Get the command line: in a clone of the repository,',
    command: 'mkdir -p ~/.local/bin && ln -sf "$PWD/script/capture" ~/.local/bin/capture',
  },
  {
    about: 'Sign in, which asks for the secret, and set the machine up; earlier sessions are sent only if you say so:',
    command: `capture login --url ${address} && capture init`,
  },
];
