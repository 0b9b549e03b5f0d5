/** A page after all redirects. */
export interface Page {
  url: string;
  html: string;
}

/** The parts of a browser that a sign-in needs: cookies, redirects and forms. */
export interface Browser {
  /** Follows redirects; stops at an address that begins with `stopAt`, without opening it. */
  open(url: string, stopAt?: string): Promise<Page>;
  /** Submits the page's form with these values and its hidden ones. */
  submit(page: Page, values: Record<string, string>, stopAt?: string): Promise<Page>;
}

const MAX_REDIRECTS = 10;

export function createBrowser(): Browser {
  const cookies = new Map<string, string>();

  async function visit(first: string, init: RequestInit, stopAt?: string): Promise<Page> {
    let url = first;
    let request = init;
    for (let hop = 0; hop < MAX_REDIRECTS; hop++) {
      if (stopAt !== undefined && url.startsWith(stopAt)) return { url, html: '' };
      const headers = { ...request.headers, cookie: cookieHeader(cookies), accept: 'text/html' };
      const response = await fetch(url, { ...request, headers, redirect: 'manual' });
      for (const line of response.headers.getSetCookie()) keepCookie(cookies, line);
      const location = response.headers.get('location');
      const html = await response.text();
      if (location === null) {
        if (!response.ok) throw new Error(`${new URL(url).pathname} answered ${response.status}${alertOf(html)}`);
        return { url, html };
      }
      url = new URL(location, url).href;
      request = {};
    }
    throw new Error(`${first} redirects too often`);
  }

  return {
    open: (url, stopAt) => visit(url, {}, stopAt),
    submit(page, values, stopAt) {
      const form = formOf(page.html);
      if (!form) throw new Error(`${page.url} has no form${alertOf(page.html)}`);
      const body = new URLSearchParams({ ...form.hidden, ...values });
      const headers = { origin: new URL(page.url).origin };
      return visit(new URL(form.action, page.url).href, { method: 'POST', body, headers }, stopAt);
    },
  };
}

/** The error message on the page. */
export function alertOf(html: string): string {
  const text = /role="alert"[^>]*>([^<]+)/.exec(html)?.[1];
  return text === undefined ? '' : `: ${text}`;
}

function formOf(html: string): { action: string; hidden: Record<string, string> } | undefined {
  const [, attributes = '', content = ''] = /<form([^>]*)>(.*?)<\/form>/s.exec(html) ?? [];
  if (content === '') return undefined;
  const inputs = [...content.matchAll(/<input([^>]*)>/g)].map(([, input = '']) => input);
  const hidden = inputs
    .filter((input) => attributeOf(input, 'type') === 'hidden')
    .map((input) => [attributeOf(input, 'name'), attributeOf(input, 'value')]);
  return { action: attributeOf(attributes, 'action'), hidden: Object.fromEntries(hidden) };
}

const attributeOf = (tag: string, name: string): string =>
  (new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '').replaceAll('&amp;', '&');

const cookieHeader = (cookies: ReadonlyMap<string, string>) =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';');
  const at = pair.indexOf('=');
  const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
  if (value === '') cookies.delete(name);
  else cookies.set(name, value);
}
