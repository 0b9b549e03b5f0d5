import { useSyncExternalStore } from 'react';
import { basePath, storageName } from './base-path.ts';

/** Creates a setting of the appearance. The browser stores it, and `public/theme.js` reads it before the first paint. */
function createChoice<const Value extends string>(name: 'theme' | 'time', preset: Value) {
  const watchers = new Set<() => void>();
  const subscribe = (watcher: () => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  };
  const read = () => (document.documentElement.dataset[name] ?? preset) as Value;
  const write = (value: Value) => {
    if (value === preset) delete document.documentElement.dataset[name];
    else document.documentElement.dataset[name] = value;
    // The sign-in pages read the cookie before anything is drawn.
    // biome-ignore lint/suspicious/noDocumentCookie: not every browser has the Cookie Store API
    if (name === 'theme') document.cookie = `${name}=${value}; path=${basePath()}/; max-age=31536000; samesite=lax`;
    try {
      localStorage.setItem(storageName(name), value);
    } catch {
      // The setting then lasts for this visit only.
    }
    for (const watcher of watchers) watcher();
  };
  return { read, write, use: () => [useSyncExternalStore(subscribe, read), write] as const };
}

export const { use: useTheme } = createChoice<'system' | 'light' | 'dark'>('theme', 'system');

/** The ways to show the times of events. */
export const TIME_MODES = ['clock', 'since start', 'UTC'] as const;
export type TimeMode = (typeof TIME_MODES)[number];
export const { use: useTimeMode, read: readTimeMode, write: writeTimeMode } = createChoice<TimeMode>('time', 'clock');
