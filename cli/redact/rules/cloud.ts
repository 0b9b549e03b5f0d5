import { made, madeUuid } from './made.ts';
import { assigned, type Rule } from './rule.ts';

export const CLOUD_RULES: readonly Rule[] = [
  {
    id: 'aws-access-key',
    keywords: ['akia', 'asia', 'abia', 'acca'],
    pattern: /(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/,
    entropy: 3,
    examples: {
      hit: [`AKIA${made('base32', 16)}`, `aws_access_key_id = ASIA${made('base32', 16, 2)}\n`],
      miss: ['AKIAXXXXXXXXXXXXXXXX', 'asiatic'],
    },
  },
  {
    id: 'aws-secret-key',
    keywords: ['aws', 'secretaccesskey', 'secret_access_key'],
    pattern: assigned('(?:aws|secret_?access_?key)', '[A-Za-z0-9+/]{40}'),
    group: 1,
    entropy: 4,
    inside: true,
    examples: {
      hit: [`aws_secret_access_key = ${made('base64', 40)}`, `"SecretAccessKey": "${made('base64', 40, 3)}"`],
      miss: ['aws_secret_access_key = <your secret access key>', `aws-sdk: ${made('hex', 40)}`],
    },
  },
  {
    id: 'azure-ad-secret',
    keywords: ['q~'],
    lead: 4,
    pattern: /[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])/,
    entropy: 3.5,
    examples: { hit: [`${made('alnum', 3)}8Q~${made('alnum', 34)}`], miss: ['8Q~short'] },
  },
  {
    id: 'heroku-key',
    keywords: ['heroku'],
    pattern: assigned('heroku', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'),
    group: 1,
    inside: true,
    examples: { hit: [`HEROKU_API_KEY=${madeUuid()}`], miss: [`heroku app ${madeUuid()}`] },
  },
];
