import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import type { Addresses } from './addresses.ts';
import { type Html, html, toText } from './html.ts';

export const STYLE = [
  new URL('../../../dashboard/styles/tokens.css', import.meta.url),
  new URL('style.css', import.meta.url),
]
  .map((address) => readFileSync(address, 'utf8'))
  .join('\n');
const STYLE_VERSION = createHash('sha256').update(STYLE).digest('hex').slice(0, 12);

export interface Page {
  title: string;
  body: Html;
  /** What went wrong with the last attempt. */
  error?: string | undefined;
  footer?: readonly Html[];
}

/** A whole page, as text, in the theme that was chosen in the dashboard. `cookies` are those of the request. */
export function renderPage(
  { path }: Addresses,
  { title, body, error, footer = [] }: Page,
  cookies: string | undefined,
): string {
  const theme = /(?:^|; )theme=(light|dark)(?:;|$)/.exec(cookies ?? '')?.[1];
  return toText(html`<!doctype html>
<html lang="en"${theme !== undefined && html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${error !== undefined && 'Error: '}${title} · Session Capture</title>
<link rel="stylesheet" href="${path}/style.css?${STYLE_VERSION}">
<link rel="icon" href="data:,">
</head>
<body>
<main>
<header>${MARK}Session Capture</header>
<h1>${title}</h1>
${error !== undefined && html`<p class="error" role="alert" id="error">${error}</p>`}
${body}
${footer.length > 0 && html`<footer>${footer.map((line) => html`<div>${line}</div>`)}</footer>`}
</main>
</body>
</html>
`);
}

/** The dashboard's: a strip of events. */
const MARK = html`<svg viewBox="0 0 32 32" width="18" height="18" aria-hidden="true"><rect x="3" y="12" width="4" height="8" rx="1"/><rect x="10" y="6" width="4" height="20" rx="1"/><rect x="17" y="10" width="4" height="12" rx="1"/><rect x="24" y="14" width="4" height="5" rx="1"/></svg>`;

/**
 * A page may load its style and nothing else, and send its form to the service alone. The dashboards are named because
 * a form's redirects count as well, and a sign-in ends there.
 */
export const pageHeaders = ({ dashboards }: Addresses) => ({
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    'img-src data:',
    // Filled by the provider with the hash of its one script, the form that submits itself.
    'script-src',
    `form-action 'self' ${dashboards.map((address) => new URL(address).origin).join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  // With `no-referrer` a browser would send `Origin: null`, and the service could not tell its own forms from others.
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
});

export function sendPage(reply: FastifyReply, addresses: Addresses, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .headers(pageHeaders(addresses))
    .type('text/html; charset=utf-8')
    .send(renderPage(addresses, page, reply.request.headers.cookie));
}
