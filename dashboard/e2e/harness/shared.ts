import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { CHROMIUM } from './chromium.ts';
import { makeFolder } from './folders.ts';
import { startService } from './service.ts';

/** A service and a browser that several test files use at the same time. */
export interface Shared {
  url: string;
  dataDir: string;
  /** The address of the browser, for Playwright. */
  browser: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    shared: Shared;
  }
}

/** Starts one service and one browser for the whole run. Each test file has its own organization and its own profiles there. */
export default async function startShared(project: TestProject): Promise<() => Promise<void>> {
  const folder = makeFolder();
  const dataDir = join(folder.path, 'data');
  mkdirSync(dataDir);
  const [service, browser] = await Promise.all([startService(dataDir), chromium.launchServer(CHROMIUM)]);
  project.provide('shared', { url: service.url, dataDir, browser: browser.wsEndpoint() });
  return async () => {
    await Promise.all([service.stop(), browser.close()]);
    folder.remove();
  };
}
