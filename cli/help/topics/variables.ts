import { DEFAULT_URL } from '../../config.ts';
import type { Topic } from '../topics.ts';

export const environment: Topic = {
  name: 'environment',
  summary: 'variables that capture reads',
  blocks: () => [
    {
      terms: [
        [
          'CAPTURE_URL',
          `Address of the service, before the one that \`capture login\` stored. Default: ${DEFAULT_URL}.`,
        ],
        ['CAPTURE_SECRET', 'Organization secret, before the stored one. For machines where nobody can sign in.'],
        ['CAPTURE_HOME', "Folder of capture's own state. Default: ~/.capture."],
        ['NO_COLOR, FORCE_COLOR', 'Without effect: capture prints no colours.'],
        ['NODE_USE_ENV_PROXY=1', 'Go through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name.'],
        [
          'NODE_EXTRA_CA_CERTS',
          'A file with certificates to trust besides the usual ones, e.g. those of your company.',
        ],
      ],
    },
    'On a terminal, progress is one line that is written over; into a file or a pipe goes a plain line now and then. Nothing ' +
      'is ever asked where there is no terminal. `capture help agents` names the variables by which agents move their sessions.',
  ],
};
