import { describe, expect, test } from 'vitest';
import { KIND_NAMES, statusFor } from './authorization.ts';
import { type AnyRouteName, ROUTE_NAMES, TABLE } from './requests.ts';
import { AUDIT_SCENARIOS } from './tables/audit.ts';
import { BOOTSTRAP } from './tables/bootstrap.ts';
import { CAPTURE_SCENARIOS } from './tables/capture.ts';
import { DEVICES } from './tables/devices.ts';
import { DIGEST_SCENARIOS } from './tables/digests.ts';
import { DIRECTORY } from './tables/directory.ts';
import { ENVIRONMENTS } from './tables/environments.ts';
import { EVENTS } from './tables/events.ts';
import { EVIDENCE } from './tables/evidence.ts';
import { EXTENSION_SCENARIOS } from './tables/extensions.ts';
import { HOLDS } from './tables/holds.ts';
import { INSTALLATIONS } from './tables/installations.ts';
import { INVITATIONS } from './tables/invitations.ts';
import { MASKS } from './tables/masks.ts';
import { MEMBERS } from './tables/members.ts';
import { MEMBERSHIPS } from './tables/memberships.ts';
import { ORGANIZATIONS } from './tables/organizations.ts';
import { POLICIES } from './tables/policies.ts';
import { RESTRICTIONS } from './tables/restrictions.ts';
import { REVIEW_SCENARIOS } from './tables/review.ts';
import { SEARCH_SCENARIOS } from './tables/search.ts';
import { SECRETS } from './tables/secrets.ts';
import { SESSION_VIEWS } from './tables/session-views.ts';
import { SESSIONS } from './tables/sessions.ts';
import { SHARES } from './tables/shares.ts';
import { VIEWS } from './tables/views.ts';
import { VISIBILITY } from './tables/visibility.ts';

const SCENARIOS = [
  ...AUDIT_SCENARIOS,
  ...BOOTSTRAP,
  ...ORGANIZATIONS,
  ...POLICIES,
  ...MEMBERS,
  ...MEMBERSHIPS,
  ...INVITATIONS,
  ...SECRETS,
  ...ENVIRONMENTS,
  ...INSTALLATIONS,
  ...SESSIONS,
  ...SESSION_VIEWS,
  ...EVENTS,
  ...EXTENSION_SCENARIOS,
  ...CAPTURE_SCENARIOS,
  ...DIGEST_SCENARIOS,
  ...DEVICES,
  ...REVIEW_SCENARIOS,
  ...SEARCH_SCENARIOS,
  ...VIEWS,
  ...HOLDS,
  ...RESTRICTIONS,
  ...MASKS,
  ...VISIBILITY,
  ...DIRECTORY,
  ...SHARES,
  ...EVIDENCE,
];

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
