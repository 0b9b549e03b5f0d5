import { expect, test } from 'vitest';
import { withoutFolders, withoutHome } from './finding.ts';

test.each([
  ['/home/ada cannot be read', '~ cannot be read'],
  ['Look into /home/ada.', 'Look into ~.'],
  ['"/home/ada/work" and /home/ada', '"~/work" and ~'],
  ['/home/adam/work', '/home/adam/work'],
  ['/home/ada.old/work', '/home/ada.old/work'],
  ['/home/ada-2/work', '/home/ada-2/work'],
])('the text %j is shown as %j', (text, shown) => {
  expect(withoutHome(text, '/home/ada')).toBe(shown);
});

test.each([
  ['/srv/state', 'chmod 700 $CAPTURE_HOME; ls /srv/state2 ~'],
  ['/srv/state/', 'chmod 700 $CAPTURE_HOME; ls /srv/state2 ~'],
  ['', 'chmod 700 /srv/state; ls /srv/state2 ~'],
])('a report replaces the state folder with its variable if it is %j', (CAPTURE_HOME, shown) => {
  const place = { home: '/home/ada', variables: { CAPTURE_HOME } };
  expect(withoutFolders('chmod 700 /srv/state; ls /srv/state2 /home/ada', place)).toBe(shown);
});
