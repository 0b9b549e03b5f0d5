import type { Topic } from '../topics.ts';

export const privacy: Topic = {
  name: 'privacy',
  summary: 'what is captured, and how to leave something out',
  blocks: () => [
    'Everything that an agent writes down about a session is captured, with secrets masked. You decide which sessions. See ' +
      'it before it is sent:',
    { lines: ['capture import --dry-run', 'capture import --dry-run --show'] },
    'Leave out folders and repositories, in ~/.capture/preferences.json:',
    { lines: ['{ "include": ["~/work", "github.com/acme/*"], "exclude": ["~/work/taxes"] }'] },
    'Leave out a repository for everybody, in .session-capture.json at its top:',
    { lines: ['{ "capture": false }'] },
    'Leave out one session:',
    { lines: ['capture skip --last'] },
    'What was sent stays at the service.',
  ],
};

export const redaction: Topic = {
  name: 'redaction',
  summary: 'what is masked before anything leaves this machine',
  blocks: () => [
    {
      terms: [
        [
          'known values',
          'Secrets of this machine, from its variables, .env files and credential files, in any encoding.',
        ],
        ['names', 'What stands under password, apiKey, authorization and their like.'],
        ['rules', 'Tokens, keys and passwords in the forms in which providers issue them.'],
      ],
    },
    'A mark such as [REDACTED:github-token:3f2a] stands where a secret was. Equal secrets of one machine have equal marks, ' +
      'and nobody can test a guess without the key in ~/.capture. What cannot be examined is withheld, not sent.',
    'Let a false alarm through, by its mark or by its rule, in ~/.capture/preferences.json:',
    { lines: ['{ "redaction": { "allow": ["[REDACTED:github-token:3f2a]"] } }'] },
    'Not masked: passwords that are plain words, secrets that are split over two records, images.',
  ],
};
