import type { Topic } from '../topics.ts';

export const troubleshooting: Topic = {
  name: 'troubleshooting',
  summary: 'when a session does not arrive',
  blocks: () => [
    'Begin with these; each says what to do:',
    { lines: ['capture doctor', 'capture status', 'capture import --dry-run', 'capture verify'] },
    {
      terms: [
        ['You are not signed in.', '`capture login`, or set CAPTURE_URL and CAPTURE_SECRET.'],
        [
          'The secret is refused',
          'It was revoked, or is of another service. Ask for a new one; what was captured is kept and sent then.',
        ],
        [
          'The service cannot be reached',
          'Nothing is lost: it waits in the spool, and is sent once the service answers. Behind a proxy, see `capture help environment`.',
        ],
        [
          'A session is missing',
          '`capture import --dry-run` says whether it was found, and which were left out and why.',
        ],
        [
          'An agent has no transcripts',
          'It may keep them elsewhere: `capture help agents` names the folder and the variables.',
        ],
        ['The daemon does not run', '`capture logs` says why. `capture init` sets it up again.'],
        [
          'Nothing arrives, though it runs',
          '`capture doctor` tells: a pause, hooks that are not trusted or switched off, a clock that is off, a full spool.',
        ],
        [
          'Events wait or were refused',
          '`capture spool list` says which; `capture spool export` saves them, and tells why they were refused.',
        ],
        ['Something was masked', '`capture help redaction` tells how to let it through.'],
      ],
    },
    'For a report of a bug, `capture doctor --json` says what is needed, without secrets, sessions and names of folders.',
  ],
};
