const LEADING_ELSEWHERE = new Set(['http:', 'https:', 'mailto:']);

/**
 * The destination of a link in a text: the whole address, and the host (for mail the address) to show beside the words of
 * the link, unless the words name it already. `undefined` if the link has no absolute address of the web.
 */
export function destinationOf(href: string, words: string): { href: string; tell: string | undefined } | undefined {
  const address = URL.parse(href);
  if (!address || !LEADING_ELSEWHERE.has(address.protocol)) return undefined;
  const place = address.protocol === 'mailto:' ? address.pathname : address.host;
  const said = words
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/, '');
  // The words must neither contain `github.com@` before the host nor `.evil.example` after it.
  const isSaid = said.startsWith(place.toLowerCase()) && /^(?:[/?#]|$)/.test(said.slice(place.length));
  return { href: address.href, tell: isSaid ? undefined : place };
}
