/** What a page could ask of a browser, and none of ours does. */
const UNUSED_FEATURES = ['camera', 'geolocation', 'microphone', 'payment', 'usb'];

/** Sent with every answer. The pages' own policy is in `pages.ts`; an API answer may load nothing at all. */
export const securityHeaders = (publicUrl: string): Record<string, string> => ({
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'permissions-policy': UNUSED_FEATURES.map((feature) => `${feature}=()`).join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  ...(publicUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
});

/**
 * What a page of the dashboard may load: only its own files; transcript content is hostile, and this is its last wall.
 * `origins` are those from which the browser fetches tokens.
 */
export const pagePolicy = (origins: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
