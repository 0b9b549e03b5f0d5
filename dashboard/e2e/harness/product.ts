import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, type TestContext } from 'vitest';
import { launchBrowser } from './browser.ts';
import { ARTEFACTS, type Folder, fileNameOf, makeFolder } from './folders.ts';
import { type Configure, type Service, startService } from './service.ts';
import { openTab, type Tab } from './tab.ts';

/** The service and a browser, for the tests of a file. */
export interface Product {
  service: Service;
  /** A folder for files of tests, removed at the end. */
  folder: string;
  open(options?: BrowserContextOptions): Promise<Tab>;
  close(tab: Tab): Promise<void>;
}

/** Starts both before the first test of the file. After each test, no tab may have reported an error. */
export function setUpProduct({
  keepsPages = false,
  configure,
}: {
  keepsPages?: boolean;
  configure?: Configure;
} = {}): Product {
  const tabs = new Set<Tab>();
  let folder: Folder;
  let browser: Browser;
  const product = {} as Product;

  beforeAll(async () => {
    folder = makeFolder();
    const dataDir = join(folder.path, 'data');
    mkdirSync(dataDir);
    [product.service, browser] = await Promise.all([startService(dataDir, configure), launchBrowser(keepsPages)]);
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
    await browser?.close();
    await product.service?.stop();
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
    copyFileSync(join(folder.path, 'data', 'service.log'), join(place, 'service.log'));
  }

  return product;
}

/** Saves a picture of the tab. */
export async function picture({ page }: Tab, name: string): Promise<void> {
  mkdirSync(ARTEFACTS, { recursive: true });
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`), animations: 'disabled' });
}
