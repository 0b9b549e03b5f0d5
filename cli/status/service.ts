import { type Account, identifyAccount } from '../account.ts';
import type { Settings } from '../config.ts';
import { notSignedIn } from '../config.ts';
import type { Context } from '../context.ts';
import { describe, Failure } from '../failure.ts';
import { findDashboard } from '../sessions/dashboard.ts';
import { createService } from '../upload/service.ts';

export interface ServiceReport {
  url?: string;
  signedIn: boolean;
  reachable: boolean;
  organizationName?: string;
  plane?: string;
  dashboard?: string;
  trouble?: string;
}

export interface ServiceState {
  report: ServiceReport;
  account?: Account;
  /** What the command ends with, once it has shown all it knows. */
  problem?: unknown;
}

const TIMEOUT_MS = 5000;

export async function askService(context: Context, settings: Partial<Settings>, folder: string): Promise<ServiceState> {
  const { url, secret } = settings;
  if (url === undefined || secret === undefined) {
    return { report: { ...(url && { url }), signedIn: false, reachable: false }, problem: notSignedIn() };
  }
  const service = createService({ url, secret, fetch: context.fetch, timeoutMs: TIMEOUT_MS });
  try {
    const { account, unreachable } = await identifyAccount(service, secret, folder);
    const dashboard = unreachable === undefined ? await findDashboard(context, url) : url;
    const report = {
      ...{ url, signedIn: true, reachable: unreachable === undefined, dashboard: `${dashboard}/` },
      ...(account?.organizationName && { organizationName: account.organizationName }),
      ...(account && { plane: account.plane }),
      ...(unreachable !== undefined && { trouble: describe(unreachable) }),
    };
    return { report, ...(account && { account }) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { report: { url, signedIn: false, reachable: true, trouble: error.message }, problem: error };
  }
}

export function describeService({ url, signedIn, reachable, ...report }: ServiceReport): string[] {
  const whom = [report.organizationName, report.plane && `${report.plane} plane`].filter(Boolean).join(', ');
  return [
    `Service       ${url ?? 'none'}${url === undefined ? '' : reachable ? ', reachable' : ', NOT reachable'}`,
    `Signed in     ${signedIn ? whom || 'not known yet for whom' : 'no'}`,
    ...(report.trouble ? [`Trouble       ${report.trouble}`] : []),
    ...(report.dashboard ? [`Dashboard     ${report.dashboard}`] : []),
  ];
}
