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

/** Debian's Chromium, quiet: it asks nobody else for anything. */
export const launchBrowser = () => chromium.launch({ executablePath: '/usr/bin/chromium', args: SWITCHES });
