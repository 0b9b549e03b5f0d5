import { vi } from 'vitest';

/** The parts of a tab of a browser that sign a person in: its storage, its address and its cookies. */
export interface PlainTab {
  /** Opens an address, follows redirects, and types the e-mail at the provider. @returns the address of the dashboard */
  visit(address: string): Promise<string>;
  /** The address that the page goes to when it leaves. */
  left(): Promise<string>;
}

const createStorage = (): Storage => {
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
    clear: () => values.clear(),
    key: (index) => [...values.keys()][index] ?? null,
    get length() {
      return values.size;
    },
  };
};

/** Replaces the globals of a browser until `vi.unstubAllGlobals`. Requests to another origin need its permission (CORS). */
export function openPlainTab(publicUrl: string, email: string): PlainTab {
  let leaving = Promise.withResolvers<string>();
  let cookie = '';
  const location = {
    origin: publicUrl,
    href: `${publicUrl}/`,
    pathname: '/',
    search: '',
    assign: (url: string) => leaving.resolve(url),
  };
  const send = globalThis.fetch;
  async function fetchAs(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = new URL(input instanceof Request ? input.url : input, publicUrl);
    const isForeign = url.origin !== publicUrl;
    const headers = new Headers(init?.headers);
    if (isForeign) headers.set('origin', publicUrl);
    const response = await send(url, { ...init, headers });
    const allowed = response.headers.get('access-control-allow-origin');
    if (isForeign && allowed !== '*' && allowed !== publicUrl) throw new TypeError('Failed to fetch');
    return response;
  }
  const tab = {
    location,
    sessionStorage: createStorage(),
    localStorage: createStorage(),
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    crypto: globalThis.crypto,
  };
  vi.stubGlobal('window', { ...tab, self: tab });
  vi.stubGlobal('document', { documentElement: { dataset: {} } });
  vi.stubGlobal('localStorage', tab.localStorage);
  vi.stubGlobal('fetch', fetchAs);

  return {
    async visit(address) {
      let url = new URL(address);
      while (url.origin !== publicUrl) {
        const response = await send(url, { redirect: 'manual', headers: { cookie } });
        cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
        if (response.status === 200) url.searchParams.set('person', email);
        else url = new URL(response.headers.get('location') ?? '');
      }
      Object.assign(location, { href: url.href, pathname: url.pathname, search: url.search });
      return url.href;
    },
    async left() {
      const address = await leaving.promise;
      leaving = Promise.withResolvers();
      return address;
    },
  };
}
