import { made } from './made.ts';
import type { Rule } from './rule.ts';

/** Passwords in addresses, headers and command lines, whatever service they belong to. */
export const ADDRESS_RULES: readonly Rule[] = [
  {
    id: 'address-password',
    keywords: ['://'],
    pattern: /:\/\/[^\s:/@"'`<>\\[\]{}|$,()]{0,100}:([^\s/@"'`<>\\$(){}:,]{3,300})@[\w.[%-]/,
    group: 1,
    entropy: 2,
    inside: true,
    examples: {
      hit: [
        `postgres://app:${made('alnum', 12)}@db.internal:5432/app`,
        `mongodb+srv://root:${made('alnum', 16)}@cluster0.mongodb.net`,
        `redis://:${made('alnum', 20)}@cache:6379`,
        `https://deploy:${made('alnum', 10)}!@git.company.test/x.git`,
      ],
      miss: [
        'postgres://user:password@localhost/db',
        'https://$USER:$PASS@host',
        'http://a.test:8080/@scope/pkg',
        'mysql://root:***@x',
      ],
    },
  },
  {
    id: 'address-token',
    keywords: ['://'],
    pattern: /:\/\/([\w-]{24,255})@(?:git|[\w.-]{1,80}\.[a-z]{2,10})/,
    group: 1,
    entropy: 3.5,
    inside: true,
    examples: {
      hit: [`https://${made('hex', 40)}@git.company.test/x.git`],
      miss: ['https://someone@git.company.test/x.git'],
    },
  },
  {
    id: 'basic-auth',
    keywords: ['basic '],
    pattern: /[Bb]asic\x20(?=[A-Za-z+/]{0,80}(?:[0-9=]|[a-z][A-Z]))([A-Za-z0-9+/]{12,500}={0,2})(?![A-Za-z0-9+/])/,
    group: 1,
    entropy: 3,
    examples: {
      hit: [`Authorization: Basic ${Buffer.from(`deploy:${made('alnum', 12)}`).toString('base64')}`],
      miss: ['Basic authentication', 'Basic understanding'],
    },
  },
  {
    id: 'bearer-token',
    keywords: ['bearer '],
    pattern: /Bearer\x20([\w.~+/-]{20,4000}={0,2})/i,
    group: 1,
    entropy: 3.5,
    examples: {
      hit: [`authorization: Bearer ${made('alnum', 40)}`],
      miss: ['Bearer YOUR_TOKEN', 'bearer authentication scheme'],
    },
  },
  {
    id: 'cookie',
    keywords: ['cookie: '],
    pattern: /Cookie:\x20([\w.-]{1,80}=[^\r\n"'`\\]{16,4096})/i,
    group: 1,
    entropy: 4,
    examples: { hit: [`Cookie: sid=${made('url', 43)}; theme=dark`], miss: ['cookie: string', 'Cookie: name=value'] },
  },
  {
    id: 'curl-user',
    keywords: ['curl '],
    pattern: /curl\x20[^\r\n|]{0,100}?(?:\x20-u\x20?|--user\x20|--user=)["']?[\w.@%+-]{1,32}:([^\s"'\\$<]{5,200})/,
    group: 1,
    entropy: 2.5,
    examples: {
      hit: [`curl -s -u admin:${made('alnum', 14)} https://x.test`],
      miss: ['curl -u user:password x', 'curl -u $USER:$PASS x'],
    },
  },
  {
    id: 'netrc-password',
    keywords: ['login '],
    pattern: /login\x20[^\s"']{1,80}[\s\\n]{1,8}password\s{1,4}([^\s"'\\$<]{6,200})/,
    group: 1,
    entropy: 2,
    examples: {
      hit: [
        `machine api.x.test\n  login ada\n  password ${made('alnum', 12)}`,
        `login ada password ${made('hex', 20)}`,
      ],
      miss: ['login ada password $PASSWORD', 'the login page and the password field'],
    },
  },
  {
    id: 'signed-address',
    keywords: ['x-amz-signature=', 'x-goog-signature='],
    pattern: /X-(?:Amz|Goog)-Signature=([0-9a-f]{64,512})/i,
    group: 1,
    examples: { hit: [`?X-Amz-Signature=${made('hex', 64)}`], miss: ['X-Amz-Signature=...'] },
  },
];
