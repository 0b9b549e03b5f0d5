import type { Browser, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';

/** A page in a profile of its own, with a record of its invisible errors. */
export interface Tab {
  page: Page;
  /** Events that must not happen: errors, dialogs, forbidden or foreign requests. */
  problems: string[];
  /** All messages of the console. */
  console: string[];
  /** Ignores errors that a test provokes. */
  allow(problem: RegExp): void;
}

/** Loopback has two names, and both belong to the service. */
const isOwn = (address: string, origin: string) =>
  ['data:', 'blob:', 'about:'].includes(new URL(address).protocol) || new URL(address).origin === origin;

export async function openTab(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
  const problems: string[] = [];
  const lines: string[] = [];
  const allowed: RegExp[] = [];
  const report = (problem: string) => {
    lines.push(`! ${problem}`);
    if (!allowed.some((expression) => expression.test(problem))) problems.push(problem);
  };

  await context.addInitScript(() => {
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
      console.error(`the policy ${violatedDirective} was violated by ${blockedURI} ${sample}`),
    );
  });
  context.on('console', (message) => {
    lines.push(`${message.type()}: ${message.text()}`);
    if (message.type() === 'error') report(`console: ${placeOf(message)}`);
  });
  context.on('weberror', (error) => report(`page: ${error.error().stack ?? error.error().message}`));
  context.on('dialog', (dialog) => {
    report(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  context.on('request', (request) => {
    if (!isOwn(request.url(), origin)) report(`foreign request: ${request.method()} ${request.url()}`);
  });
  const page = await context.newPage();
  context.on('page', (popup) => report(`window: ${popup.url()}`));
  return { page, problems, console: lines, allow: (problem) => void allowed.push(problem) };
}

function placeOf(message: ConsoleMessage): string {
  const { url } = message.location();
  return url === '' ? message.text() : `${message.text()} (${url})`;
}
