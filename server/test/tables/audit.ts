import { expect } from 'vitest';
import type { Scenario } from '../scenarios.ts';

export const AUDIT_SCENARIOS: readonly Scenario[] = [
  {
    route: 'listAudit',
    name: 'the newest entry comes first, and each has the hash of the one before it',
    status: 200,
    after(_, { body: { entries } }) {
      for (const [index, { sequence, hash }] of entries.entries()) {
        const later = entries[index - 1];
        if (later) expect([later.sequence - 1, later.previous]).toEqual([sequence, hash]);
      }
      expect(entries.at(-1)).toMatchObject({ sequence: 1, action: 'organization.created', previous: '0'.repeat(64) });
    },
  },
  {
    route: 'listAudit',
    name: 'the pages together are the whole log',
    ask: { query: { limit: '2' } },
    status: 200,
    async after({ service, ours }, { body }) {
      expect(body.entries).toHaveLength(2);
      const list = async (query: string) =>
        (await service.call('GET', `/v1/organizations/me/audit?${query}`, { as: ours.owner })).body;
      const all = (await list('limit=500')).entries;
      const paged = [...body.entries];
      for (let cursor = body.nextCursor; cursor !== null; ) {
        const page = await list(`limit=2&cursor=${cursor}`);
        paged.push(...page.entries);
        cursor = page.nextCursor;
      }
      expect(paged).toEqual(all);
    },
  },
  {
    route: 'listAudit',
    name: 'filters by action and person',
    ask: ({ ours }) => ({ query: { action: 'secret.issued', actor: ours.ownerId } }),
    status: 200,
    after({ ours }, { body }) {
      expect(body.entries.length).toBeGreaterThan(1);
      for (const entry of body.entries) {
        expect(entry).toMatchObject({ action: 'secret.issued', actor: { kind: 'person', id: ours.ownerId } });
      }
    },
  },
  {
    route: 'listAudit',
    name: 'a filter by somebody in another organization finds nothing',
    ask: ({ theirs }) => ({ query: { actor: theirs.ownerId } }),
    status: 200,
    body: () => ({ entries: [], nextCursor: null }),
  },
  ...[{ limit: '0' }, { limit: '1000' }, { cursor: 'x' }, { action: 'secret.read' }].map(
    (query): Scenario => ({
      route: 'listAudit',
      name: `the query ${JSON.stringify(query)}`,
      ask: { query },
      status: 400,
    }),
  ),
  {
    route: 'streamAuditEvents',
    name: 'the oldest event comes first, each in a class of OCSF',
    status: 200,
    async after({ service, ours }, { body }) {
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit?limit=500', { as: ours.owner })).body;
      const codes = body.map((one: { metadata: { event_code: string } }) => one.metadata.event_code);
      expect(codes).toEqual(entries.map(({ action }: { action: string }) => action).reverse());
      for (const event of body) {
        expect([3001, 3002, 3004]).toContain(event.class_uid);
        expect(event.type_uid).toBe(event.class_uid * 100 + event.activity_id);
        expect([event.user, event.entity].filter(Boolean)).toHaveLength(1);
      }
      expect(body[0]).toMatchObject({
        class_uid: 3004,
        activity_id: 1,
        metadata: { version: '1.6.0', sequence: 1, tenant_uid: ours.organizationId },
        actor: { user: { uid: ours.ownerId, type: 'User' } },
        entity: { type: 'organization', uid: ours.organizationId },
      });
    },
  },
  {
    route: 'streamAuditEvents',
    name: 'the pieces together are the whole log',
    ask: { query: { limit: '2' } },
    status: 200,
    async after({ service, ours }, { body }) {
      expect(body).toHaveLength(2);
      const read = async (query: string) =>
        (await service.call('GET', `/v1/organizations/me/audit/events?${query}`, { as: ours.owner })).body;
      const all = await read('');
      const pieces = [...body];
      for (let piece = body; piece.length > 0; ) {
        piece = await read(`limit=2&after=${pieces.at(-1).metadata.sequence}`);
        pieces.push(...piece);
      }
      expect(pieces).toEqual(all);
    },
  },
  ...[{ limit: '0' }, { limit: '100000' }, { after: '-1' }].map(
    (query): Scenario => ({
      route: 'streamAuditEvents',
      name: `the query ${JSON.stringify(query)}`,
      ask: { query },
      status: 400,
    }),
  ),
  {
    route: 'getAuditHead',
    name: 'it is the last entry of the log',
    as: ({ ours }) => ours.owner,
    status: 200,
    async after({ service, ours }, { body: { head } }) {
      const { entries } = (await service.call('GET', '/v1/organizations/me/audit', { as: ours.owner })).body;
      const { sequence, hash } = entries[0];
      expect(head).toMatchObject({ organizationId: ours.organizationId, sequence, hash });
    },
  },
];
