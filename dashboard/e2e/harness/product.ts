import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, type TestContext } from 'vitest';
import { launchBrowser } from './browser.ts';
import { ARTEFACTS, type Folder, fileNameOf, makeFolder } from './folders.ts';
import { type Configure, type RunningService, type Service, startService } from './service.ts';
import { openTab, type Tab } from './tab.ts';

/** The service and a browser, for the tests of a file. */
export interface Product<Used extends RunningService = RunningService> {
  service: Used;
  /** A folder for files of tests, removed at the end. */
  folder: string;
  open(options?: BrowserContextOptions): Promise<Tab>;
  close(tab: Tab): Promise<void>;
}

interface Parts<Used extends RunningService> {
  service: Used;
  browser: Browser;
  stop(): Promise<void>;
}

/** For tests that share the service and the browser of the run. Other files have their organizations in the same service. */
export function shareProduct(): Product {
  return setUp(async () => {
    const { url, dataDir, browser } = inject('shared');
    return { service: { url, dataDir }, browser: await chromium.connect(browser), stop: async () => {} };
  });
}

/** Starts both for this file alone: its tests stop the service, configure it, visit it first, or need another browser. */
export function setUpProduct({
  keepsPages = false,
  configure,
}: {
  keepsPages?: boolean;
  configure?: Configure;
} = {}): Product<Service> {
  return setUp(async (folder) => {
    const dataDir = join(folder, 'data');
    mkdirSync(dataDir);
    const [service, browser] = await Promise.all([startService(dataDir, configure), launchBrowser(keepsPages)]);
    return { service, browser, stop: () => service.stop() };
  });
}

/** Begins before the first test of the file. After each test, no tab may have reported an error. */
function setUp<Used extends RunningService>(begin: (folder: string) => Promise<Parts<Used>>): Product<Used> {
  const tabs = new Set<Tab>();
  let folder: Folder;
  let parts: Parts<Used> | undefined;
  const product = {} as Product<Used>;

  beforeAll(async () => {
    folder = makeFolder();
    parts = await begin(folder.path);
    const { service, browser } = parts;
    product.service = service;
    product.folder = folder.path;
    product.open = async (options) => {
      const tab = await openTab(browser, new URL(product.service.url).origin, options);
      tabs.add(tab);
      return tab;
    };
    product.close = async (tab) => {
      tabs.delete(tab);
      await tab.page.context().close();
      expect(tab.problems).toEqual([]);
    };
  });

  beforeEach(({ task, onTestFailed }: TestContext) => {
    onTestFailed(() => keepEvidence(task.file.name, task.name));
  });

  afterEach(() => {
    expect([...tabs].flatMap((tab) => tab.problems.splice(0))).toEqual([]);
  });

  afterAll(async () => {
    await parts?.browser.close();
    await parts?.stop();
    folder?.remove();
  });

  /** Saves the pictures and consoles of all tabs after a failed test. */
  async function keepEvidence(file: string, test: string): Promise<void> {
    const place = join(ARTEFACTS, 'failed', `${basename(file, '.test.ts')}-${fileNameOf(test)}`);
    mkdirSync(place, { recursive: true });
    for (const [index, { page, console: lines }] of [...tabs].entries()) {
      await page.screenshot({ path: join(place, `tab-${index + 1}.png`) }).catch(() => {});
      writeFileSync(join(place, `tab-${index + 1}.log`), `${page.url()}\n${lines.join('\n')}\n`);
    }
    copyFileSync(join(product.service.dataDir, 'service.log'), join(place, 'service.log'));
  }

  return product;
}

/** Saves a picture of the tab. */
export async function picture({ page }: Tab, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`), animations: 'disabled' });
}
