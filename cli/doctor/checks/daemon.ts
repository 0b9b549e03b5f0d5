import { join } from 'node:path';
import { pidPath } from '../../daemon/pid.ts';
import { isHomeClaimed } from '../../daemon/same-home.ts';
import { isChange, isSame } from '../../hooks/change.ts';
import { isLocked } from '../../lock.ts';
import { formatAge } from '../../output.ts';
import { findMissingProgram, planDaemon } from '../../setup/daemon.ts';
import { chainOf, supervisorOf } from '../../setup/supervisor.ts';
import { formatMoment } from '../../status/daemon.ts';
import { VERSION } from '../../version.ts';
import type { Facts } from '../facts.ts';
import { type Finding, failed, ok, skipped, warning } from '../finding.ts';

const SILENT_MS = 5 * 60_000;

export function checkDaemon(facts: Facts): Finding {
  const { daemon, context } = facts;
  const { running, crashed, pid, since, beatAt, version, starter } = daemon;
  const ago = (time: string) => `${formatAge(context.now() - Date.parse(time))} ago`;
  const start = starter === undefined || starter === 'none' ? 'capture run' : 'capture init --yes';
  if (crashed) {
    const beat = beatAt === undefined ? '' : `, last heard of ${ago(beatAt)}`;
    const fix = `${start}   # capture logs may say why`;
    return failed(`The daemon ended without saying so (process ${pid}${beat}).`, fix);
  }
  if (!running && starter === 'hook') {
    return warning('The daemon does not run. It is started when an agent next works.', 'capture run');
  }
  if (!running) {
    const isNew = starter === undefined;
    const sentence = isNew ? 'The daemon does not run: nothing is set up to start it.' : 'The daemon does not run.';
    return failed(sentence, isNew ? 'capture init' : start);
  }
  const restart = starter === 'hook' || starter === undefined || starter === 'none' ? `kill ${pid} && ${start}` : start;
  if (version !== undefined && version !== VERSION) {
    return warning(`The daemon is of version ${version}, and this is ${VERSION}.`, restart);
  }
  const isHeld = facts.spool?.notice('held') !== undefined;
  const silentMs = beatAt === undefined ? 0 : context.now() - Date.parse(beatAt);
  if (silentMs > SILENT_MS && facts.service.secret === 'accepted' && !isHeld) {
    return warning(`The daemon runs, and has not reached the service for ${formatAge(silentMs)}.`, restart);
  }
  return ok(`The daemon runs${since ? `, started ${ago(since)}` : ''}${version ? `, version ${version}` : ''}.`);
}

/** Whether whoever is to start it would, and would start this program. */
export async function checkSupervisor({ daemon, context }: Facts): Promise<Finding> {
  const missing = findMissingProgram(context);
  if (missing.length > 0) {
    const sentence = `The daemon is started from ${missing.join(' and ')}, which ${missing.length === 1 ? 'is' : 'are'} gone.`;
    return failed(sentence, 'capture init --yes');
  }
  const supervisor = chainOf(supervisorOf(context.platform)).find(({ kind }) => kind === daemon.starter);
  if (supervisor === undefined) {
    return skipped('No service manager is to keep the daemon running.');
  }
  const trouble = await supervisor.findTrouble(context);
  if (trouble !== undefined) {
    const log = daemon.starter === 'systemd' ? '   # journalctl --user -u session-capture.service says why' : '';
    return failed(`The service manager does not keep the daemon running: ${trouble}.`, `capture init --yes${log}`);
  }
  const { file } = await planDaemon(context, { daemon: true });
  if (file && !(isChange(file) && isSame(file))) {
    const sentence = `${file.path} does not start this program as it is now.`;
    return warning(sentence, 'capture init --yes');
  }
  return ok(`${supervisor.name} keeps the daemon running.`);
}

export function checkPause({ daemon: { paused, pausedUntil } }: Facts): Finding {
  if (!paused) return ok('Capture is not paused.');
  return warning(
    `Capture is paused${pausedUntil ? ` until ${formatMoment(pausedUntil)}` : ''}: nothing is read or sent.`,
    'capture resume',
  );
}

/** Two state folders do not know of each other: each would send every record. */
export function checkStateFolders({ context, state, account, daemon }: Facts): Finding {
  const usual = join(context.home, '.capture');
  const isElsewhere = state !== usual;
  if (isElsewhere && isLocked(usual, 'run')) {
    const sentence = `A second daemon captures this home, with ${usual} as its folder.`;
    return failed(sentence, `env -u CAPTURE_HOME capture uninstall   # or: kill $(cat ${pidPath(usual)})`);
  }
  if (!daemon.running && account !== undefined && isHomeClaimed(context, account)) {
    const sentence = 'Another daemon captures this home for the same organization, with a folder of its own.';
    return failed(sentence, 'Give it and this shell the same CAPTURE_HOME, or end it: ps x | grep "capture.* run"');
  }
  return ok(`One folder of state, ${state}.`);
}
