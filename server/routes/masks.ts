import { MIN_MASKED } from '../../contract/mask.ts';
import { Problem } from '../../contract/problem.ts';
import type { Deps } from '../deps.ts';
import { findHoldOf } from '../erase/holds.ts';
import { cancelMaskOfAll, listMasks, listMasksOfAll, MaskHeld, toMaskReceipt, toMaskRun } from '../erase/mask/masks.ts';
import type { MemberCaller } from '../http/auth.ts';
import type { Handlers } from '../http/handler.ts';
import { findSession } from '../store/sessions.ts';
import { viewerOf } from '../store/viewer.ts';
import { found, foundReadable } from './answers.ts';
import { visitorOf } from './session-views.ts';

export const maskHandlers = ({ store: { db }, longReads, masking, sessionViews, now }: Deps) => {
  async function find(caller: MemberCaller, sessionId: string) {
    const viewer = await viewerOf(db, caller);
    return foundReadable(viewer, await findSession(db, viewer, sessionId));
  }

  return {
    async maskText(ask) {
      const { caller, params, signal } = ask;
      const { sessionId } = params;
      const { text, dryRun } = ask.body;
      const { organizationId, userId } = caller;
      const session = await find(caller, sessionId);
      assertFit(text);
      // The number of places tells whether the session has the text.
      sessionViews.note(visitorOf(ask, caller), session, 'opened', true);
      if (dryRun) {
        const holdId = await findHoldOf(db, { organizationId, sessionId });
        if (holdId !== undefined) throw heldBy(holdId);
        const body = await longReads.run(caller, signal, (db, signal) =>
          masking.count(db, session, text, { group: organizationId, person: userId, signal }),
        );
        return { status: 200, body };
      }
      const row = await masking.mask({ organizationId, sessionId }, userId, text).catch((error: unknown) => {
        throw error instanceof MaskHeld ? heldBy(error.holdId) : error;
      });
      const receipt = toMaskReceipt(row);
      const { events, places, fields, mark } = receipt;
      return { status: 200, body: { events, places, fields, mark, receipt } };
    },

    async listMasks({ caller, params: { sessionId } }) {
      await find(caller, sessionId);
      const rows = await listMasks(db, { organizationId: caller.organizationId, sessionId });
      return { status: 200, body: { masks: rows.map(toMaskReceipt) } };
    },

    async maskEverywhere({ caller: { organizationId, userId }, body: { text, dryRun = false } }) {
      assertFit(text);
      const run = await masking.maskEverywhere(organizationId, userId, text, dryRun);
      return { status: 202, body: { run: toMaskRun(run) } };
    },

    async listMaskRuns({ caller: { organizationId, userId } }) {
      const rows = await listMasksOfAll(db, organizationId, userId);
      return { status: 200, body: { runs: rows.map(toMaskRun) } };
    },

    async cancelMaskRun({ caller: { organizationId, userId }, params: { runId } }) {
      const run = found(await cancelMaskOfAll(db, { organizationId, userId, maskId: runId }, now()), 'run');
      return { status: 200, body: { run: toMaskRun(run) } };
    },
  } satisfies Partial<Handlers>;
};

/** @throws Problem `validation_failed` */
function assertFit(text: string): void {
  if (text.trim().length >= MIN_MASKED && text.isWellFormed()) return;
  throw new Problem(
    'validation_failed',
    `/text needs at least ${MIN_MASKED} characters beside spaces at its ends, and whole characters.`,
  );
}

const heldBy = (holdId: string) =>
  new Problem(
    'held',
    `The hold ${holdId} keeps this session as it is, so nothing was masked. Ask an owner or admin to release the hold first.`,
  );
