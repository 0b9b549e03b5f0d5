import { expect, test } from 'vitest';
import { relativePath } from './format.ts';

test.each([
  ['/home/ada/shop/src/a.ts', '/home/ada/shop', 'src/a.ts'],
  ['/home/ada/shop/src/a.ts', '/home/ada/shop/', 'src/a.ts'],
  ['/home/ada/shop2/a.ts', '/home/ada/shop', '/home/ada/shop2/a.ts'],
  ['C:\\work\\shop\\a.ts', 'C:\\work\\shop', 'a.ts'],
  ['src/a.ts', '/home/ada/shop', 'src/a.ts'],
  ['/a.ts', undefined, '/a.ts'],
  ['/home/ada/shop', '/home/ada/shop', '/home/ada/shop'],
])('%s is called in %s: %s', (path, folder, called) => {
  expect(relativePath(path, folder)).toBe(called);
});
