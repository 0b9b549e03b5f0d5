import { made } from './made.ts';
import type { Rule } from './rule.ts';

const BODY = Array.from({ length: 4 }, (_, line) => made('base64', 64, line)).join('\n');
const FRAME = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`;

/**
 * Private keys and signed tokens. The body of a key may be wrapped, numbered (`cat -n`), indented, quoted with `>` or
 * `+`, or written as JSON with `\n`, once or twice escaped; it may also have been cut off before its last line.
 */
export const KEY_RULES: readonly Rule[] = [
  {
    id: 'private-key',
    keywords: ['-----begin'],
    pattern:
      /-----BEGIN[A-Z0-9\x20]{0,30}PRIVATE\x20KEY(?:\x20BLOCK)?-----(?=[^-]{0,200}[A-Za-z0-9+/=]{32})(?:[A-Za-z0-9+/=\s\\:,.|>"'→]|-(?!-)){40,20000}(?:-----END[A-Z0-9\x20]{0,30}PRIVATE\x20KEY(?:\x20BLOCK)?-----)?/,
    inside: true,
    examples: {
      hit: [
        FRAME('RSA PRIVATE KEY', BODY),
        FRAME('OPENSSH PRIVATE KEY', BODY).replaceAll('\n', '\\n'),
        FRAME('PRIVATE KEY', BODY).replaceAll('\n', '\\\\n'),
        FRAME('EC PRIVATE KEY', BODY).slice(0, -30),
        FRAME('PGP PRIVATE KEY BLOCK', `Version: GnuPG v2\n\n${BODY}\n=abCD`),
      ],
      miss: [FRAME('PUBLIC KEY', BODY), FRAME('PRIVATE KEY', '...'), 'starts with -----BEGIN PRIVATE KEY-----'],
    },
  },
  {
    // The chunk before held its beginning.
    id: 'private-key-end',
    keywords: ['-----end'],
    pattern: /-----END[A-Z0-9\x20]{0,30}PRIVATE\x20KEY(?:\x20BLOCK)?-----/,
    reach: /[A-Za-z0-9+/=\r\n\\]/,
    inside: true,
    examples: {
      hit: [FRAME('RSA PRIVATE KEY', BODY).slice(100), FRAME('PRIVATE KEY', BODY).replaceAll('\n', '\\n').slice(90)],
      miss: ['-----END PRIVATE KEY-----', FRAME('PUBLIC KEY', BODY)],
    },
  },
  {
    id: 'encoded-private-key',
    keywords: ['ls0tls1crudjti'],
    // `-----BEGIN` in base64, then what private keys go on with; certificates and public keys go on differently.
    pattern: /LS0tLS1CRUdJTi(?:BQUklW|BSU0Eg|BFQyBQ|BPUEVO|BEU0Eg|BFTkNS)[A-Za-z0-9+/]{40,20000}={0,2}/,
    examples: {
      hit: [
        Buffer.from(FRAME('PRIVATE KEY', BODY)).toString('base64'),
        Buffer.from(FRAME('RSA PRIVATE KEY', BODY)).toString('base64'),
      ],
      miss: [Buffer.from(FRAME('CERTIFICATE', BODY)).toString('base64')],
    },
  },
  {
    id: 'putty-key',
    keywords: ['private-lines:'],
    pattern: /Private-Lines:\x20\d{1,4}((?:[A-Za-z0-9+/=\r\n]|\\[nr]){40,16000})/i,
    group: 1,
    examples: { hit: [`Private-Lines: 4\n${BODY}\nPrivate-MAC: 1`], miss: ['Private-Lines: 4'] },
  },
  {
    id: 'json-web-token',
    keywords: ['eyj'],
    pattern: /eyJ[\w-]{12,600}\.eyJ[\w-]{12,8000}\.[\w-]{16,1500}/,
    entropy: 4,
    examples: {
      hit: [`eyJ${made('url', 33)}.eyJ${made('url', 80)}.${made('url', 43)}`],
      miss: [`eyJ${made('url', 33)}`],
    },
  },
  {
    id: 'encrypted-web-token',
    keywords: ['eyj'],
    pattern: /eyJ[\w-]{30,600}\.[\w-]{0,1000}\.[\w-]{16}\.[\w-]{20,8000}\.[\w-]{22}(?![\w-])/,
    entropy: 4,
    examples: {
      hit: [`eyJ${made('url', 60)}.${made('url', 342)}.${made('url', 16)}.${made('url', 120)}.${made('url', 22)}`],
      miss: ['eyJ.a.b'],
    },
  },
];
