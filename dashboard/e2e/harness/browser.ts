import { type Page as BrowserPage, chromium } from 'playwright-core';

export type Page = BrowserPage;

const SWITCHES = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Debian's Chromium, quiet: it asks nobody else for anything.
 * @param keepsPages keeps pages that were left, with their connections, as people's browsers do
 */
export const launchBrowser = (keepsPages = false) =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: SWITCHES,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
