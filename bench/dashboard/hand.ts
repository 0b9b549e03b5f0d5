import type { Locator, Page } from '../../dashboard/e2e/harness/browser.ts';

/** Simulates a person at a page: clicks and types at a person's speed, uses only visible elements, and counts the actions. */
export interface Hand {
  page: Page;
  clicks: number;
  keys: number;
  click(target: Locator): Promise<void>;
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Uses the browser's back button. */
  back(): Promise<void>;
  /** Points at the vertical middle of an element, at a share of its width. */
  point(target: Locator, share?: number): Promise<void>;
  /** Waits until the words are visible without scrolling. @returns the text of the place */
  read(place: Locator, words: RegExp): Promise<string>;
}

/** Pause between two keys, in milliseconds. */
const KEY_MS = 25;
const MAX_MS = 15_000;

export function createHand(page: Page): Hand {
  const hand: Hand = {
    page,
    clicks: 0,
    keys: 0,
    async click(target) {
      hand.clicks++;
      await target.click({ timeout: MAX_MS });
    },
    async press(key) {
      hand.keys++;
      await page.keyboard.press(key);
    },
    async type(text) {
      hand.keys += text.length;
      await page.keyboard.type(text, { delay: KEY_MS });
    },
    async back() {
      hand.clicks++;
      await page.goBack();
    },
    async point(target, share = 0.5) {
      const box = await target.boundingBox();
      if (!box) throw new Error('the element to point at is not on the page');
      await page.mouse.move(box.x + box.width * share, box.y + box.height / 2, { steps: 4 });
    },
    async read(place, words) {
      const found = place.filter({ hasText: words }).first();
      await found.waitFor({ timeout: MAX_MS });
      const deadline = performance.now() + MAX_MS;
      while (!(await found.evaluate(isInSight))) {
        if (performance.now() > deadline) throw new Error(`${words} is on the page but not visible`);
        await page.waitForTimeout(20);
      }
      return (await found.allInnerTexts()).join(' ').replaceAll(/\s+/g, ' ').trim();
    },
  };
  return hand;
}

/** The parts of a page's elements that are used here. */
interface Element {
  getBoundingClientRect(): { left: number; top: number; width: number; height: number };
  contains(other: Element): boolean;
}
declare const getComputedStyle: (element: Element) => { pointerEvents: string };
declare const document: { elementFromPoint(x: number, y: number): Element | null };

/** Whether the element's beginning is on the screen and not covered. */
function isInSight(element: Element): boolean {
  const { left, top, width, height } = element.getBoundingClientRect();
  const seen = document.elementFromPoint(left + Math.min(width, 240) / 2, top + Math.min(height, 40) / 2);
  // `elementFromPoint` ignores elements that take no clicks.
  if (getComputedStyle(element).pointerEvents === 'none') return seen !== null;
  return seen !== null && (element.contains(seen) || seen.contains(element));
}
