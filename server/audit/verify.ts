import type { AuditEntry } from '../../contract/audit.ts';
import { listAudited, readAuditAfter, readAuditHead, toAuditEntry } from '../store/audit.ts';
import { ChainCheck, type Finding } from '../store/audit-chain.ts';
import type { AuditEntryRow, Db } from '../store/schema.ts';
import type { KnownHeads } from './heads.ts';

export interface AuditReport {
  organizations: number;
  entries: number;
  /** How many signed heads were compared with a log, and how many organizations they belong to. */
  heads: number;
  compared: number;
  /** The organizations of the store without a signed head. Their logs may have been cut off or rewritten. */
  unsigned: string[];
  findings: (Finding & { organizationId: string })[];
}

export const NO_HEADS: KnownHeads = { byOrganization: new Map(), ended: new Set(), foreignLines: [] };

/** Checks every audit log of the store against its chain, its head and the signed heads. */
export async function verifyAudit(db: Db, { byOrganization, ended }: KnownHeads): Promise<AuditReport> {
  const audited = await listAudited(db);
  const organizations = [...new Set([...audited.keys(), ...byOrganization.keys()])].sort();
  const report: AuditReport = {
    organizations: organizations.length,
    entries: 0,
    heads: 0,
    compared: 0,
    unsigned: [],
    findings: [],
  };
  for (const organizationId of organizations) {
    if (ended.has(organizationId)) {
      // The organization was deleted. If a log exists again, it is not the original one.
      const isGone = audited.get(organizationId)?.isBeingRemoved ?? true;
      if (!isGone) report.findings.push({ organizationId, sequence: 1, problem: 'written anew' });
      continue;
    }
    const heads = byOrganization.get(organizationId) ?? [];
    report.heads += heads.length;
    if (heads.length > 0) report.compared++;
    else report.unsigned.push(organizationId);
    const check = new ChainCheck(organizationId, heads);
    const before = await readAuditHead(db, organizationId);
    for await (const rows of readAuditAfter(db, organizationId, Number.MIN_SAFE_INTEGER)) {
      for (const row of rows) {
        const entry = readEntry(row);
        if (entry) check.add(entry);
        else check.addUnreadable(row);
      }
      report.entries += rows.length;
    }
    const after = await readAuditHead(db, organizationId);
    for (const finding of check.end(before, after)) report.findings.push({ ...finding, organizationId });
  }
  return report;
}

/** Undefined if the row contains something that the service never writes. That is a finding, and no reason to stop. */
function readEntry(row: AuditEntryRow): AuditEntry | undefined {
  try {
    return toAuditEntry(row);
  } catch {
    return undefined;
  }
}
