import { type Locator as BrowserLocator, type Page as BrowserPage, chromium } from 'playwright-core';
import { CHROMIUM } from './chromium.ts';

export type Page = BrowserPage;
export type Locator = BrowserLocator;

/** @param keepsPages keeps pages that were left, with their connections, like browsers of people do */
export const launchBrowser = (keepsPages = false) =>
  chromium.launch({
    ...CHROMIUM,
    ...(keepsPages && { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  });
