import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { formatCount } from '../../contract/count.ts';
import type { MachineState } from '../../contract/environment.ts';
import type { Context } from '../context.ts';
import { describe } from '../failure.ts';
import { scriptPath } from '../hooks/script.ts';
import { formatAge } from '../output.ts';
import { findOpenFolder, findUnwritable } from '../setup/state-folder.ts';
import type { DeferredSession } from '../spool/deferrals.ts';
import { VERSION } from '../version.ts';
import { CAPTURE_CHECKS, checkDisk } from './capture-findings.ts';
import { type Check, type Checked, type Finding, failed, INSTALL_NEWEST, warning } from './finding.ts';
import { attempt, type Inspection } from './inspect.ts';

/** The findings of every check, failures first. A check that throws becomes a finding, and the others continue. */
export function findTroubles(inspection: Inspection, context: Context): Checked[] {
  const findings = (Object.entries(CHECKS) as [MachineState, Check][]).flatMap(([check, find]): Checked[] => {
    try {
      return [find(inspection, context) ?? []].flat().map((finding) => ({ check, ...finding }));
    } catch (error) {
      const sentence = `This check failed: ${describe(error)}`;
      return [{ check, ...failed(sentence, 'capture status --report   # for a bug report') }];
    }
  });
  return (['failed', 'warning'] as const).flatMap((outcome) => findings.filter((one) => one.outcome === outcome));
}

const LOGIN = 'capture login';
const LOG = 'capture status --log';
const MAX_SKEW_MS = 5 * 60_000;
const SILENT_MS = 5 * 60_000;

export const CHECKS: { readonly [check in MachineState]: Check } = {
  // The disk comes first, because the commands that fix other findings write to it.
  disk: checkDisk,

  'state-folders'({ state }, context) {
    const troubles = [findUnwritable(state), findOpenFolder(context)].filter((one) => one !== undefined);
    return troubles.map(({ message, hint = '' }) => failed(message, hint));
  },

  'sign-in'({ settings, isSecretOfShell, unreadable, service }) {
    if (unreadable.settings) return failed(unreadable.settings, LOGIN);
    if (settings.secret === undefined) return failed('Nobody is signed in, so nothing is captured.', LOGIN);
    if (service.secret !== 'refused') return undefined;
    if (isSecretOfShell) {
      const sentence =
        'The service refuses the secret in CAPTURE_SECRET, which comes before the stored one in this shell.';
      return failed(sentence, 'unset CAPTURE_SECRET   # or correct it');
    }
    const sentence =
      'The service refuses the secret: it is wrong or was revoked. New events are kept until you sign in again.';
    return failed(sentence, `${LOGIN}   # then confirm this machine in the browser`);
  },

  service({ service: { answer, url, trouble } }) {
    const why = trouble?.replace(/\.+$/, '');
    if (answer === 'other') {
      const sentence = `Something other than the service answers at ${url}, such as the sign-in page of a network.`;
      return failed(sentence, `Open ${url}/health in a browser. If the address is wrong: ${LOGIN} --url ADDRESS`);
    }
    if (answer === 'error') {
      const sentence = `The service at ${url} was reached, but answers with an error: ${why}.`;
      return failed(sentence, 'Wait. Captured events are kept, and sent once the service accepts them.');
    }
    if (answer !== 'no') return undefined;
    const fix = `curl ${url}/health   # nothing is lost meanwhile; behind a proxy: capture --help`;
    return failed(`The service at ${url} cannot be reached: ${why}.`, fix);
  },

  /** Uses the answer to the sender's last attempt, because a new request would need a registration. */
  sending({ spool, service }) {
    if (!spool?.notSending || service.secret === 'refused') return undefined;
    return failed(spool.notSending.sentence, spool.notSending.hint ?? LOG);
  },

  deferred({ spool, service, now }) {
    if (spool === undefined || service.secret === 'refused') return undefined;
    const reasons = [...Map.groupBy(spool.deferred, ({ sentence }) => sentence).values()];
    return reasons.map((sessions) => describeDeferred(sessions, now));
  },

  replaced: ({ spool }) => spool?.replaced && warning(spool.replaced.sentence, spool.replaced.hint ?? LOG),

  clock({ service: { aheadMs = 0 } }) {
    if (Math.abs(aheadMs) <= MAX_SKEW_MS) return undefined;
    const sentence = `The clock of this machine is ${formatAge(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}.`;
    return warning(sentence, 'sudo timedatectl set-ntp true');
  },

  version({ service: { version = VERSION } }) {
    const plain = (each: string) => each.replace(/[-+].*/, '');
    if (plain(VERSION).localeCompare(plain(version), 'en', { numeric: true }) >= 0) return undefined;
    return warning(`capture ${VERSION} is older than the service (${version}).`, INSTALL_NEWEST);
  },

  daemon({ daemon, service, spool, now }) {
    const { running, beatAt, version = VERSION } = daemon;
    const silentMs = beatAt === undefined ? 0 : now - Date.parse(beatAt);
    if (!running) {
      const heard =
        beatAt === undefined
          ? ''
          : ` It last ran ${formatAge(silentMs)} ago; \`capture status --log\` says why it ended.`;
      // A daemon that was set up only needs a start. `capture init` would ask everything again.
      return failed(`The daemon is not running.${heard}`, daemon.starter ? 'capture restart' : 'capture init');
    }
    if (version !== VERSION) {
      return warning(`The daemon still runs version ${version}; version ${VERSION} is installed.`, 'capture restart');
    }
    if (silentMs <= SILENT_MS || service.secret !== 'accepted' || spool?.notSending !== undefined) return undefined;
    const sentence = `The daemon is running but has not reached the service for ${formatAge(silentMs)}.`;
    return warning(sentence, 'capture restart');
  },

  /** Checks agents whose transcripts are incomplete. Without the hooks, the missing facts are never captured. */
  hooks(_, context) {
    const { agents, variables, home } = context;
    const script = scriptPath(context);
    const isExecutable = attempt(() => accessSync(script, constants.X_OK), undefined).trouble === undefined;
    return agents.flatMap(({ displayName, folder, hooks }) => {
      if (hooks === undefined || !existsSync(folder?.(variables, home) ?? '')) return [];
      const path = hooks.path(variables, home);
      const isNamed = attempt(() => readFileSync(path, 'utf8'), '')
        .value.replaceAll('\\\\', '\\')
        .includes(script);
      if (isNamed && isExecutable) return [];
      const sentence = isNamed ? `${script} cannot be run` : `${path} does not run capture's hook`;
      return warning(`${displayName}: ${sentence}, so the results of its tools are not captured.`, 'capture init');
    });
  },

  ...CAPTURE_CHECKS,
};

/** Describes the sessions that are deferred for one reason. The session that is retried first comes first. */
function describeDeferred(sessions: readonly DeferredSession[], now: number): Finding {
  const [{ sentence, hint = LOG, until }] = sessions as [DeferredSession];
  const again = until > now ? `in ${formatAge(until - now)}` : 'now';
  const what = sessions.length === 1 ? 'It is' : `${formatCount(sessions.length, 'session')} are`;
  return warning(`${sentence} ${what} tried again ${again}.`, hint);
}
