import { formatExact } from '../../kit/format.ts';
import { showHidden } from '../../kit/text/controls.ts';
import type { Timeline } from './build.ts';
import { childrenOf, type Item } from './items.ts';
import { type Head, wholeOrSaid } from './markdown.ts';

/** A session as one self-contained page: no scripts, no addresses, all text escaped, hidden characters made visible. */
export function toHtml(timeline: Timeline, title: string, head: Head): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${toHtmlBody(timeline, title, head)}
</body>
</html>
`;
}

/** The body of the page, for documents of any style. */
export const toHtmlBody = ({ turns }: Timeline, title: string, head: Head): string => `<h1>${escapeHtml(title)}</h1>
<dl>
${head.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('\n')}
</dl>
${toHtmlElements({ turns })}`;

/** The timeline without a heading. */
export const toHtmlElements = ({ turns }: Pick<Timeline, 'turns'>): string =>
  `<p class="call">Not included: full inputs of calls, the lines they changed, and records.</p>
${turns.flatMap(({ items }) => items.flatMap(toElements)).join('\n')}`;

const STYLE = `
:root { color-scheme: light dark; font: 14px/22px system-ui, sans-serif }
body { max-width: 74ch; margin: 40px auto; padding: 0 20px }
h1 { font-size: 20px; line-height: 28px; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 12px }
dt { color: light-dark(#666, #999) }
dd { margin: 0; overflow-wrap: anywhere }
article { margin: 16px 0; white-space: pre-wrap; overflow-wrap: anywhere }
.prompt { border-left: 3px solid #6878e8; padding-left: 12px }
.prompt time { font-weight: 600 }
.call, .reasoning, time { color: light-dark(#666, #999) }
.call, time { font-size: 12px }
.call { font-family: ui-monospace, monospace; overflow-wrap: anywhere }
.failed { color: light-dark(#b3261e, #f28b82) }
pre { overflow-x: auto; white-space: pre-wrap }
details:not(.call) { margin-left: 16px }
.call { margin: 12px 0 }
`;

function toElements(item: Item): string[] {
  if (item.kind === 'message') {
    const { entry } = item;
    if (entry.kind === 'turn') return entry.interrupted ? ['<p class="failed">interrupted</p>'] : [];
    if (entry.kind === 'notice' || entry.text === '') return [];
    const time = `<time>${escapeHtml(formatExact(item.time))}</time>`;
    return [
      `<article class="${entry.kind === 'error' ? 'failed' : entry.kind}">${time}\n${escapeHtml(wholeOrSaid(entry))}</article>`,
    ];
  }
  if (item.kind === 'tool') {
    const files = item.changes.map(({ path, added, removed }) => `${path} +${added} −${removed}`).join(', ');
    const words = [item.name, item.call?.about, files].filter(Boolean).join(' · ');
    const output = item.results.map(({ preview }) => preview).join('\n');
    const tag = `class="call${item.failed ? ' failed' : ''}"`;
    const line = output
      ? `<details ${tag}><summary>${escapeHtml(words)}</summary><pre>${escapeHtml(output)}</pre></details>`
      : `<p ${tag}>${escapeHtml(words)}</p>`;
    return [line, ...item.lanes.flatMap(toElements)];
  }
  if (item.kind === 'lane') {
    return [
      `<details><summary>sub-agent, ${item.calls} calls</summary>`,
      ...item.items.flatMap(toElements),
      '</details>',
    ];
  }
  return item.kind === 'group' ? childrenOf(item).flatMap(toElements) : [];
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escapeHtml = (text: string) =>
  showHidden(text).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
