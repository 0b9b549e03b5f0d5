/** Addresses of the embedded provider's pages and endpoints, as a browser sees them. */
export interface Addresses {
  /** `<public url>/oidc`: the name of the issuer, and the prefix of its pages and endpoints. */
  issuer: string;
  /** Path of the issuer: `/oidc`, or longer if a proxy serves the product under a path. */
  path: string;
  publicUrl: URL;
  /** The dashboard's start page. */
  home: string;
  /** Addresses of the dashboard, each without a slash at the end. */
  dashboards: readonly string[];
  signIn(uid: string): string;
  link(page: LinkPage, token: string): string;
}

/** Pages that a person reaches by a link with a token. */
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

/** People type `localhost` or `127.0.0.1` for their own machine; to a browser these are two origins. */
function twinOf(base: string): string[] {
  const url = new URL(base);
  const twin = LOOPBACK[url.hostname];
  if (twin === undefined) return [];
  url.hostname = twin;
  return [url.href.replace(/\/$/, '')];
}
