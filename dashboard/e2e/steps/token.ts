import type { Page } from '../harness/browser.ts';

/** Ages the token, so that the next request has to renew it. */
export const expireToken = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const [key = ''] = Object.keys(sessionStorage).filter((name) => name.startsWith('oidc.user'));
    const user = JSON.parse(sessionStorage.getItem(key) ?? '');
    sessionStorage.setItem(key, JSON.stringify({ ...user, profile: { ...user.profile, exp: 1 } }));
  });
