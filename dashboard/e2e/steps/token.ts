import type { Page } from '../harness/browser.ts';

/** As if the person had been there for long: the next request has to renew the token. */
export const expireToken = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const [key = ''] = Object.keys(sessionStorage).filter((name) => name.startsWith('oidc.user'));
    const user = JSON.parse(sessionStorage.getItem(key) ?? '');
    sessionStorage.setItem(key, JSON.stringify({ ...user, profile: { ...user.profile, exp: 1 } }));
  });
