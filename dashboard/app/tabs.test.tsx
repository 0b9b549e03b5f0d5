import { beforeEach, expect, test } from 'vitest';
import { type End, findEnd, noteLeft, noteSignIn, noteSignOut, watchTabs } from './tabs.ts';

beforeEach(() => localStorage.clear());

/** The ends that a tab of Ada learns of, after another tab has changed the storage. */
function watchAsAda() {
  noteSignIn('ada');
  const ends: End[] = [];
  watchTabs('ada', (end) => ends.push(end));
  return {
    ends,
    elsewhere(change: () => void) {
      change();
      dispatchEvent(new StorageEvent('storage'));
    },
  };
}

test('the tabs of a person end once, for the first reason', () => {
  const { ends, elsewhere } = watchAsAda();
  elsewhere(() => noteSignIn('ada'));
  expect(ends).toEqual([]);
  elsewhere(noteSignOut);
  elsewhere(() => noteSignIn('ben'));
  expect(ends).toEqual(['signed out']);
  expect(findEnd('ada')).toBe('another person');
});

test('a person who leaves an organization in one tab ends the others, but not those that are opened later', () => {
  const { ends, elsewhere } = watchAsAda();
  elsewhere(noteLeft);
  expect(ends).toEqual(['left']);
  watchTabs('ada', (end) => ends.push(end));
  dispatchEvent(new StorageEvent('storage'));
  expect(ends).toEqual(['left']);
});

test('a page that the browser kept while the person signed out ends when it is shown again', () => {
  const { ends } = watchAsAda();
  noteSignOut();
  dispatchEvent(new Event('pageshow'));
  expect(ends).toEqual(['signed out']);
});

test('a browser without an agreed person ends no tab', () => {
  const { ends, elsewhere } = watchAsAda();
  elsewhere(() => localStorage.clear());
  expect(ends).toEqual([]);
});
