import { expect, test } from 'vitest';
import { isInside, tilde } from './paths.ts';

test.each([
  ['/home/ada', '/home/ada', '~'],
  ['/home/ada/shop', '/home/ada', '~/shop'],
  ['/home/ada/shop', '/home/ada/', '~/shop'],
  ['/home/ada', '/home/ada/', '~'],
  ['/home/adam', '/home/ada', '/home/adam'],
  ['/home/adam', '/home/ada/', '/home/adam'],
  // As in daemons and containers.
  ['/srv/shop', '/', '/srv/shop'],
  ['/', '/', '/'],
])('%s with the home folder %s is printed as %s', (path, home, printed) => expect(tilde(path, home)).toBe(printed));

test.each([
  ['/home/ada/shop', '/home/ada/shop', true],
  ['/home/ada/shop', '/home/ada/shop/', true],
  ['/home/ada/shop/', '/home/ada/shop', true],
  ['/home/ada/shop/src', '/home/ada/shop/', true],
  ['/home/ada/shopping', '/home/ada/shop', false],
  ['/home/ada/shopping', '/home/ada/shop/', false],
  ['/home/ada', '/home/ada/shop', false],
  ['/srv', '/', true],
  ['/', '/', true],
])('that %s is inside %s is %s', (path, folder, inside) => expect(isInside(path, folder)).toBe(inside));
