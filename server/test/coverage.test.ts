import { describe, expect, test } from 'vitest';
import { KIND_NAMES, statusFor } from './authorization.ts';
import { type AnyRouteName, ROUTE_NAMES, TABLE } from './requests.ts';
import { SCENARIOS } from './tables/all.ts';

/** Documented statuses that no row shows, with the reason. */
const NOT_SHOWN: Partial<Record<AnyRouteName, Record<number, string>>> = {
  getConfig: { 503: 'it answers from the configuration in memory, which is always available' },
  appendEvents: { 202: 'events are persisted synchronously while no bus is configured' },
  revokeEnvironment: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  deleteCapturedSession: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  forgetDeletion: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  deleteSession: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  getDeletionReceipt: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  releaseHold: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  cancelMaskRun: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  revokeShare: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  deleteView: { 400: 'it takes no body; an address that cannot be decoded is in addresses.test.ts' },
  streamChanges: { 200: 'it never ends: live.test.ts reads it', 400: 'both sides of its query are optional strings' },
};

/** Statuses that one test checks on every route: callers, limits and outage. */
const played = (route: AnyRouteName): number[] => {
  const refusals = KIND_NAMES.map((caller) => statusFor(route, caller)).filter((status) => [401, 403].includes(status));
  return [...refusals, ...(TABLE[route].errors.includes(429) ? [429] : []), 503];
};

describe('the tables', () => {
  test.each(ROUTE_NAMES)('show each documented status of %s, and no other', (route) => {
    const own = SCENARIOS.filter((scenario) => scenario.route === route).map(({ status }) => status);
    const excused = Object.keys(NOT_SHOWN[route] ?? {}).map(Number);
    const documented = [...Object.keys(TABLE[route].replies).map(Number), ...TABLE[route].errors];
    const shown = new Set([...own, ...played(route).filter((status) => documented.includes(status as 400))]);
    expect([...new Set([...shown, ...excused])].sort()).toEqual([...documented].sort());
  });

  test('excuse no status that a row shows', () => {
    for (const [route, excuses] of Object.entries(NOT_SHOWN)) {
      const own = SCENARIOS.filter((scenario) => scenario.route === route).map(({ status }) => status);
      for (const status of Object.keys(excuses)) expect(own).not.toContain(Number(status));
    }
  });
});
