import { made } from './made.ts';
import { assigned, type Rule } from './rule.ts';

/** Sign-in services and keepers of secrets. */
export const IDENTITY_RULES: readonly Rule[] = [
  {
    id: 'okta-token',
    keywords: ['okta', 'ssws '],
    pattern: /(?:okta[\w.-]{0,30}["'`]?\x20{0,3}[:=]\x20{0,3}["'`]?|SSWS\x20)(00[\w-]{40})(?![\w-])/i,
    group: 1,
    inside: true,
    examples: {
      hit: [`OKTA_API_TOKEN=00${made('url', 40)}`, `Authorization: SSWS 00${made('url', 40)}`],
      miss: ['okta: 00'],
    },
  },
  {
    id: 'auth0-secret',
    keywords: ['auth0'],
    pattern: assigned('auth0', '[\\w-]{64}'),
    group: 1,
    entropy: 3.5,
    inside: true,
    examples: { hit: [`AUTH0_CLIENT_SECRET=${made('url', 64)}`], miss: ['AUTH0_DOMAIN=dev.eu.auth0.com'] },
  },
  {
    id: 'onepassword-token',
    keywords: ['ops_eyj', 'a3-'],
    pattern:
      /(?:ops_eyJ[A-Za-z0-9+/=_-]{200,2000}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})/,
    examples: {
      hit: [
        `ops_eyJ${made('url', 300)}`,
        `A3-${made('upper', 6)}-${made('upper', 11)}-${made('upper', 5)}-${made('upper', 5, 2)}-${made('upper', 5, 3)}`,
      ],
      miss: ['A3-paper'],
    },
  },
  {
    id: 'age-key',
    keywords: ['age-secret-key-1'],
    pattern: /AGE-SECRET-KEY-1[A-Z0-9]{58}/i,
    examples: { hit: [`AGE-SECRET-KEY-1${made('upper', 58)}`], miss: ['AGE-SECRET-KEY-1'] },
  },
  {
    id: 'infisical-token',
    keywords: ['st.'],
    pattern: /st\.[0-9a-f]{8}-?[0-9a-f]{16,28}\.[0-9a-f]{32}\.[0-9a-f]{32}/,
    examples: { hit: [`st.${made('hex', 24)}.${made('hex', 32)}.${made('hex', 32)}`], miss: ['test.st.js'] },
  },
  {
    id: 'named-sign-in-secret',
    keywords: [
      'clerk',
      'keycloak',
      'cognito',
      'linkedin',
      'spotify',
      'twitch',
      'nextauth',
      'better_auth',
      'workos',
      'stytch',
    ],
    pattern: assigned(
      '(?:clerk|keycloak|cognito|linkedin|spotify|twitch|nextauth|better_auth|workos|stytch)[\\w.-]{0,16}(?:secret|token|key)',
      '[A-Za-z0-9_+/=-]{16,100}',
    ),
    group: 1,
    entropy: 3.2,
    inside: true,
    examples: {
      hit: [`NEXTAUTH_SECRET=${made('base64', 43)}=`, `SPOTIFY_CLIENT_SECRET: ${made('hex', 32)}`],
      miss: ['NEXTAUTH_SECRET=secret'],
    },
  },
];
