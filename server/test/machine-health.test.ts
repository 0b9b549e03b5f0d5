import { describe, expect, test } from 'vitest';
import { isOlder, isSilent } from '../routes/machine-health.ts';

const at = (day: string) => Date.parse(`${day}T12:00:00Z`);
const WORKDAYS = ['2026-11-09', '2026-11-10', '2026-11-11', '2026-11-12', '2026-11-13', '2026-11-16', '2026-11-17'];

describe('a machine', () => {
  test.each([
    ['2026-11-17', WORKDAYS, '2026-11-21', false],
    ['2026-11-17', WORKDAYS, '2026-11-22', true],
    // A machine that is used once a week is not missed after three days.
    ['2026-11-17', ['2026-11-03', '2026-11-10', '2026-11-17'], '2026-11-20', false],
    ['2026-11-17', ['2026-11-03', '2026-11-10', '2026-11-17'], '2026-11-26', true],
    ['2026-11-17', ['2026-11-16', '2026-11-17'], '2027-01-01', false],
    ['2026-11-17', [], '2027-01-01', false],
  ])('last heard of on %s, at work on %j, is silent on %s: %j', (seen, days, now, silent) => {
    expect(isSilent(at(seen), days, at(now))).toBe(silent);
  });

  test.each([
    ['0.1.0', '0.1.0', false],
    ['0.1.9', '0.1.10', true],
    ['0.9.0', '1.0.0', true],
    ['2.0.0', '1.9.9', false],
    ['dev', '1.0.0', false],
  ])('with the command line %s, where the service offers %s, is behind: %j', (version, than, older) => {
    expect(isOlder(version, than)).toBe(older);
  });
});
