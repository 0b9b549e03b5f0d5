import { readSequence, writeSequence } from '../cursor.ts';
import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { listAudit, readAuditHead, toAuditEntry } from '../store/audit.ts';

const DEFAULT_PAGE = 100;
const LARGEST_PAGE = 500;

export const auditHandlers = ({ store: { db }, auditKey, now }: Deps) =>
  ({
    async listAudit({ caller, query }) {
      const limit = Math.min(Number(query.limit ?? DEFAULT_PAGE), LARGEST_PAGE);
      const before = query.cursor === undefined ? Number.MAX_SAFE_INTEGER : readSequence(query.cursor);
      const { action, actor } = query;
      const rows = await listAudit(db, caller.organizationId, { action, actor, before, limit: limit + 1 });
      const entries = rows.slice(0, limit).map(toAuditEntry);
      const last = entries.at(-1);
      return {
        status: 200,
        body: { entries, nextCursor: rows.length > limit && last ? writeSequence(last.sequence) : null },
      };
    },

    async getAuditHead({ caller }) {
      const head = await readAuditHead(db, caller.organizationId);
      const { publicKey } = auditKey;
      return { status: 200, body: { head: auditKey.sign(caller.organizationId, head, now()), publicKey } };
    },
  }) satisfies Partial<Handlers>;
