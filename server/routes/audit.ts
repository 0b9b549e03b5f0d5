import { toOcsf } from '../audit/ocsf.ts';
import { readSequence, writeSequence } from '../cursor.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { streamText } from '../ingest/page.ts';
import { listAudit, readAuditAfter, readAuditHead } from '../store/audit.ts';
import { entriesFor } from '../store/audit-entries.ts';
import type { Db } from '../store/schema.ts';
import { type Viewer, viewerOf } from '../store/viewer.ts';

const DEFAULT_PAGE = 100;
const MAX_PAGE = 500;
/** Events of a stream. */
const DEFAULT_EVENTS = 1_000;
const MAX_EVENTS = 10_000;

export const auditHandlers = ({ store: { db }, auditKey, now }: Deps) =>
  ({
    async listAudit({ caller, query }) {
      const limit = Math.min(Number(query.limit ?? DEFAULT_PAGE), MAX_PAGE);
      const before = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : readSequence(query.cursor);
      const { action, actor } = query;
      const rows = await listAudit(db, caller.organizationId, { action, actor, before, limit: limit + 1 });
      const entries = await entriesFor(db, await viewerOf(db, caller), rows.slice(0, limit));
      const last = entries.at(-1);
      return {
        status: 200,
        body: { entries, nextCursor: rows.length > limit && last ? writeSequence(last.sequence) : null },
      };
    },

    async streamAuditEvents({ caller, query }) {
      const limit = Math.min(Number(query.limit ?? DEFAULT_EVENTS), MAX_EVENTS);
      return {
        status: 200,
        body: await streamText(linesOf(db, await viewerOf(db, caller), Number(query.after ?? 0), limit)),
      };
    },

    async getAuditHead({ caller }) {
      const head = await readAuditHead(db, caller.organizationId);
      const { publicKey } = auditKey;
      return { status: 200, body: { head: auditKey.sign(caller.organizationId, head, now()), publicKey } };
    },
  }) satisfies Partial<Handlers>;

async function* linesOf(db: Db, viewer: Viewer, after: number, limit: number): AsyncGenerator<string> {
  const { organizationId } = viewer;
  for await (const rows of readAuditAfter(db, organizationId, after, limit)) {
    for (const entry of await entriesFor(db, viewer, rows)) yield `${JSON.stringify(toOcsf(organizationId, entry))}\n`;
  }
}
