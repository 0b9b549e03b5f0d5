import fc from 'fast-check';
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { StartDeviceBody } from '../contract/device.ts';
import { RegisterEnvironmentBody } from '../contract/environment.ts';
import { runs } from '../contract/test/runs.ts';
import { nameOfMachine } from './machine-name.ts';

test.each([
  ['laptop', 'laptop'],
  ['lap\u200btop\u202e', 'laptop'],
  ['', 'unknown'],
  [' \u2060 ', 'unknown'],
])('the machine %j signs in and registers as %j', (hostname, name) => {
  expect(nameOfMachine(hostname)).toBe(name);
});

test('the service takes the name of every machine', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (hostname) => {
      const body = { hostname: nameOfMachine(hostname), platform: 'linux', serviceCliVersion: '1.0.0' };
      expect(Value.Check(StartDeviceBody, body)).toBe(true);
      expect(Value.Check(RegisterEnvironmentBody, body)).toBe(true);
    }),
    runs(300),
  );
});
