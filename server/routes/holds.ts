import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import { countHeld, listHolds, placeHold, releaseHold, toHold } from '../erase/holds.ts';
import type { Handlers } from '../http/handler.ts';
import { changeMembers } from '../store/organizations.ts';
import { asOrganization } from '../store/tenant.ts';
import { viewerOf } from '../store/viewer.ts';
import { found } from './answers.ts';
import { findActor } from './members.ts';

export const holdHandlers = ({ store: { db }, longReads, now }: Deps) =>
  ({
    async listHolds({ caller, signal }) {
      // The counts include sessions whose existence the reader may not know, as those of retention rules do.
      const viewer = await viewerOf(db, caller);
      const holds = await asOrganization(caller.organizationId, () =>
        longReads.run(caller, signal, async (db) => {
          const rows = await listHolds(db, caller.organizationId);
          return Promise.all(rows.map(async (row) => toHold(row, await countHeld(db, viewer, row))));
        }),
      );
      return { status: 200, body: { holds } };
    },

    async placeHold({ caller, body }) {
      const { kind, id } = body.target;
      if (kind === 'everything' && id !== undefined)
        throw new Problem('validation_failed', '/target/id is not allowed for a hold on everything.');
      if (kind !== 'everything' && id === undefined)
        throw new Problem('validation_failed', `/target/id is required: it says which ${kind}.`);
      const row = await changeMembers(db, caller.organizationId, async (transaction) => {
        await findActor(transaction, caller);
        const viewer = { ...(await viewerOf(transaction, caller)), userId: caller.userId };
        return placeHold(transaction, viewer, body, now());
      });
      return { status: 201, body: { hold: toHold(row) } };
    },

    async releaseHold({ caller, params: { holdId } }) {
      return { status: 200, body: { hold: toHold(found(await releaseHold(db, caller, holdId, now()), 'hold')) } };
    },
  }) satisfies Partial<Handlers>;
