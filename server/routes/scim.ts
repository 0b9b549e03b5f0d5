import { MAX_SCIM_PAGE, SCIM_SCHEMAS, type ScimUser } from '../../contract/directory.ts';
import type { Deps } from '../deps.ts';
import { readUser } from '../directory/attributes.ts';
import { CONFIGURATION, RESOURCE_TYPES, SCHEMAS } from '../directory/descriptions.ts';
import { patchUser, readUserFilter } from '../directory/patch.ts';
import { createProvisioning, findUser, type Invite } from '../directory/provision.ts';
import type { DirectoryCaller } from '../http/auth.ts';
import type { Ask, Handlers } from '../http/handler.ts';
import { toTimestamp } from '../store/columns.ts';
import { adoptMembers, countDirectoryUsers, type KnownUser, listDirectoryUsers } from '../store/directory.ts';
import { mailInvitation } from './members.ts';

/** What a directory does to its users, by SCIM 2.0 (RFC 7644). */
export const scimHandlers = (deps: Deps) => {
  const { store, publicUrl, now } = deps;
  const { db } = store;
  const provisioning = createProvisioning(deps);

  const toScimUser = (row: KnownUser): ScimUser => ({
    schemas: [SCIM_SCHEMAS.user],
    id: row.directory_user_id,
    ...JSON.parse(row.attributes),
    active: row.role !== null,
    meta: {
      resourceType: 'User',
      created: toTimestamp(row.created_at),
      lastModified: toTimestamp(row.updated_at),
      location: `${publicUrl}/scim/v2/Users/${row.directory_user_id}`,
    },
  });

  /** A failed mail fails nothing else: the invitation is valid without it, and the page of members can send it again. */
  const mailTo =
    ({ countAs, log }: Pick<Ask, 'countAs' | 'log'>): Invite =>
    async (invited) => {
      await mailInvitation(deps, invited, countAs).catch((err) => log.warn({ err }, 'an invitation was not mailed'));
    };

  const answer = async (caller: DirectoryCaller, id: string) =>
    ({ status: 200, body: toScimUser(await findUser(db, caller, id)) }) as const;

  return {
    getScimConfiguration: async () => ({ status: 200, body: CONFIGURATION }),
    listScimSchemas: async () => ({ status: 200, body: listOf(SCHEMAS) }),
    listScimResourceTypes: async () => ({ status: 200, body: listOf(RESOURCE_TYPES) }),

    async listScimUsers({ caller, query }) {
      const { organizationId } = caller;
      const filter = query.filter === undefined ? undefined : readUserFilter(query.filter);
      const startIndex = Math.max(1, Number(query.startIndex ?? 1));
      const limit = Math.min(MAX_SCIM_PAGE, Math.max(0, Number(query.count ?? MAX_SCIM_PAGE)));
      await adoptMembers(db, organizationId, now());
      const rows = await listDirectoryUsers(db, organizationId, { filter, offset: startIndex - 1, limit });
      const totalResults = await countDirectoryUsers(db, organizationId, filter);
      return { status: 200, body: { ...listOf(rows.map(toScimUser)), totalResults, startIndex } };
    },

    async createScimUser({ caller, body, ...ask }) {
      const id = await provisioning.create(caller, readUser(body), mailTo(ask));
      const user = toScimUser(await findUser(db, caller, id));
      return { status: 201, body: user, headers: { location: user.meta.location } };
    },

    async getScimUser({ caller, params }) {
      return answer(caller, params.directoryUserId);
    },

    async replaceScimUser({ caller, params, body, ...ask }) {
      await provisioning.change(caller, params.directoryUserId, () => readUser(body), mailTo(ask));
      return answer(caller, params.directoryUserId);
    },

    async changeScimUser({ caller, params, body, ...ask }) {
      const changed = ({ attributes, role }: KnownUser) =>
        readUser(patchUser({ ...JSON.parse(attributes), active: role !== null }, body.Operations));
      await provisioning.change(caller, params.directoryUserId, changed, mailTo(ask));
      return answer(caller, params.directoryUserId);
    },

    async deleteScimUser({ caller, params }) {
      await provisioning.remove(caller, params.directoryUserId);
      return { status: 204, body: undefined };
    },
  } satisfies Partial<Handlers>;
};

const listOf = <Item>(items: Item[]) => ({
  schemas: [SCIM_SCHEMAS.list],
  totalResults: items.length,
  startIndex: 1,
  itemsPerPage: items.length,
  Resources: items,
});
