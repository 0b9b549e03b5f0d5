import type { Topic } from '../topics.ts';

export const files: Topic = {
  name: 'files',
  summary: 'what capture keeps, and where',
  blocks: () => [
    'All in ~/.capture, or in CAPTURE_HOME, readable by you only:',
    {
      terms: [
        ['config.json', 'Address of the service, and the secret.'],
        ['preferences.json', 'What you want: see `capture help privacy` and `capture help redaction`. You write it.'],
        ['spool.db', 'What is captured and not acknowledged yet, and up to where each transcript was read.'],
        ['accounts.json', 'Which organization a secret is of, for when the service cannot be asked.'],
        ['redaction.key', 'What marks are made with. Without it, marks made before and after do not compare.'],
        ['skipped.json', 'The sessions that `capture skip` left out.'],
        ['setup.json, hooks/', 'What `capture init` changed, so that `capture uninstall` can undo it.'],
        ['notes/', "What the agents' hooks leave for the daemon."],
        ['daemon.log', 'What the daemon said: `capture logs`.'],
        ['paused', 'There while `capture pause` holds.'],
      ],
    },
    'In a repository, .session-capture.json says for everybody whether its sessions are captured.',
  ],
};
