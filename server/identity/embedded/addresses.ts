/** Where the embedded provider's pages and endpoints are, as a browser sees them. */
export interface Addresses {
  /** `<public url>/oidc`, the issuer's name and the prefix of all below. */
  issuer: string;
  /** Path of the issuer; longer than `/oidc` where a proxy serves the product under a path. */
  path: string;
  publicUrl: URL;
  /** The dashboard's start page. */
  home: string;
  /** Addresses of the dashboard, each without a slash at the end. */
  dashboards: readonly string[];
  signIn(uid: string): string;
  link(page: LinkPage, token: string): string;
}

/** Pages that are reached by a link with a token. */
export type LinkPage = 'welcome' | 'join' | 'reset';

const LOOPBACK: Record<string, string> = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' };

export function addressesOf(publicUrl: string): Addresses {
  const base = publicUrl.replace(/\/$/, '');
  const issuer = `${base}/oidc`;
  return {
    issuer,
    path: new URL(issuer).pathname,
    publicUrl: new URL(publicUrl),
    home: `${base}/`,
    dashboards: [base, ...twinOf(base)],
    signIn: (uid) => `${new URL(issuer).pathname}/sign-in/${uid}`,
    link: (page, token) => `${issuer}/${page}?token=${token}`,
  };
}

/** On one machine people type `localhost` and `127.0.0.1` alike; browsers take them for two origins. */
function twinOf(base: string): string[] {
  const url = new URL(base);
  const twin = LOOPBACK[url.hostname];
  if (twin === undefined) return [];
  url.hostname = twin;
  return [url.href.replace(/\/$/, '')];
}
