import { expect } from 'vitest';

export interface Reply {
  status: number;
  url: string;
  headers: Headers;
  text: string;
  location: string | undefined;
}

interface Cookie {
  value: string;
  path: string;
}

/** The parts of a browser that signing in needs: cookies by path, redirects on request, and the forms of a page. */
interface BrowserOptions {
  /** Sends a request; a test may use a proxy here. */
  send?: (url: string, init: RequestInit) => Promise<Response>;
  onCookie?: (line: string) => void;
}

export function createBrowser(origin: string, { send = fetch, onCookie }: BrowserOptions = {}) {
  const cookies = new Map<string, Cookie>();

  async function request(address: string, init: RequestInit = {}): Promise<Reply> {
    const url = new URL(address, origin).href;
    const headers = new Headers(init.headers);
    const sent = [...cookies].filter(([, { path }]) => new URL(url).pathname.startsWith(path));
    if (sent.length > 0) headers.set('cookie', sent.map(([name, { value }]) => `${name}=${value}`).join('; '));
    headers.set('accept', headers.get('accept') ?? 'text/html');
    // A restarted service has closed the connections that were left open.
    headers.set('connection', 'close');
    const response = await send(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) remember(line);
    const location = response.headers.get('location');
    return {
      status: response.status,
      url,
      headers: response.headers,
      text: await response.text(),
      location: location === null ? undefined : new URL(location, url).href,
    };
  }

  function remember(line: string): void {
    onCookie?.(line);
    const [pair = '', ...attributes] = line.split('; ');
    const name = pair.slice(0, pair.indexOf('='));
    const settings = new Map(attributes.map((attribute) => attribute.split('=') as [string, string]));
    const expires = settings.get('expires');
    if (expires !== undefined && Date.parse(expires) < Date.now()) cookies.delete(name);
    else cookies.set(name, { value: pair.slice(name.length + 1), path: settings.get('path') ?? '/' });
  }

  /** Follows redirects up to the first that leaves the provider. */
  async function open(address: string): Promise<Reply> {
    return follow(await request(address));
  }

  async function follow(reply: Reply): Promise<Reply> {
    const { location } = reply;
    const isInside = location !== undefined && new URL(location).pathname.includes('/oidc/');
    return isInside ? follow(await request(location)) : reply;
  }

  /** Sends the page's form with its hidden fields, as a person's browser would. */
  async function submit(page: Reply, fields: Record<string, string>, headers: Record<string, string> = {}) {
    const form = /<form[^>]*>[\s\S]*?<\/form>/.exec(page.text)?.[0];
    expect(form, 'the page has a form').toBeDefined();
    const action = /<form[^>]*action="([^"]*)"/.exec(form ?? '')?.[1] ?? page.url;
    const inputs = [...(form ?? '').matchAll(/<input[^>]*?name="([^"]*)"[^>]*?value="([^"]*)"/g)];
    const values = {
      ...Object.fromEntries(inputs.map(([, name = '', value = '']) => [name, unescapeText(value)])),
      ...fields,
    };
    const body = new URLSearchParams(values);
    return follow(
      await request(new URL(action, page.url).href, { method: 'POST', body, headers: { origin, ...headers } }),
    );
  }

  return { request, open, submit, cookies };
}

const unescapeText = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
