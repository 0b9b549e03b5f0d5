import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyReply } from 'fastify';
import type { Addresses } from './addresses.ts';

const TRUSTED = Symbol('trusted HTML');

/** HTML that is safe to send. Only `html` and `trusted` create it, so a visitor's text is never taken for HTML. */
export interface Html {
  readonly [TRUSTED]: string;
}

type Value = string | number | Html | readonly Html[] | undefined | false;

/** A template that escapes its values, for text and for quoted attributes. Undefined and false produce nothing. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((text, index) => text + render(values[index]));
  return trusted(parts.join(''));
}

/** Markup from a trusted part of the service. */
export const trusted = (markup: string): Html => ({ [TRUSTED]: markup });

export const toText = (markup: Html): string => markup[TRUSTED];

function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value));
  if (isList(value)) return value.map(toText).join('');
  return toText(value);
}

const isList = (value: Html | readonly Html[]): value is readonly Html[] => Array.isArray(value);

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const escapeText = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

export const STYLE = [
  new URL('../../../dashboard/kit/styles/tokens.css', import.meta.url),
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

/** A whole page as text, in the theme that the person chose in the dashboard. `cookies` is the request's header. */
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

/** The mark of the dashboard: a strip of events. */
const MARK = html`<svg viewBox="0 0 32 32" width="18" height="18" aria-hidden="true"><rect x="3" y="12" width="4" height="8" rx="1"/><rect x="10" y="6" width="4" height="20" rx="1"/><rect x="17" y="10" width="4" height="12" rx="1"/><rect x="24" y="14" width="4" height="5" rx="1"/></svg>`;

/**
 * A page may load its style and nothing else, and send its form only to the service. The policy names the dashboards, because
 * it covers redirects of a form as well and a sign-in ends at a dashboard.
 */
export const pageHeaders = ({ dashboards }: Addresses) => ({
  'content-security-policy': [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    'img-src data:',
    // The provider adds the hash of its one script, which submits a form by itself.
    'script-src',
    `form-action 'self' ${dashboards.map((address) => new URL(address).origin).join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  // With `no-referrer` a browser would send `Origin: null`, and the service could not recognize its own forms.
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
