/** Sent with every answer. The pages' own policy is in `pages.ts`; an API answer may load nothing at all. */
export const SECURITY_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/**
 * What a page of the dashboard may load: only its own files; transcript content is hostile, and this is its last wall.
 * `issuer` is where the browser fetches tokens.
 */
export const pagePolicy = (issuer: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${URL.canParse(issuer) ? new URL(issuer).origin : ''}`.trim(),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
