const LEADING_ELSEWHERE = new Set(['http:', 'https:', 'mailto:']);

/**
 * Where a link of a text leads: the whole address, and what must be told beside the link's words, which is the host, or for
 * mail the address, unless the words say it. `undefined` where it is no link, since it names no whole address of the web.
 */
export function destinationOf(href: string, words: string): { href: string; tell: string | undefined } | undefined {
  const address = URL.parse(href);
  if (!address || !LEADING_ELSEWHERE.has(address.protocol)) return undefined;
  const place = address.protocol === 'mailto:' ? address.pathname : address.host;
  const said = words
    .trim()
    .toLowerCase()
    .replace(/^(?:https?:\/\/|mailto:)/, '');
  // Neither `github.com@` before it nor `.evil.example` behind it.
  const isSaid = said.startsWith(place.toLowerCase()) && /^(?:[/?#]|$)/.test(said.slice(place.length));
  return { href: address.href, tell: isSaid ? undefined : place };
}
