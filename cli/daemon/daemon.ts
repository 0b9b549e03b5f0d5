import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatCount } from '../../contract/count.ts';
import { stateFolder } from '../config.ts';
import type { Context } from '../context.ts';
import { describe, EXIT, Failure, toFailure } from '../failure.ts';
import type { Output } from '../output.ts';
import { openPipeline, type Pipeline } from '../pipeline.ts';
import { type Consent, ensureConsent } from '../privacy/consent.ts';
import { readPreferences } from '../privacy/preferences.ts';
import { findTranscripts, type Place } from '../read/discover.ts';
import { damageOf } from '../spool/damage.ts';
import { DECISIONS_FILE } from '../spool/decisions.ts';
import type { Spool } from '../spool/open.ts';
import { captureLive } from './capture.ts';
import { becomeDaemon } from './control.ts';
import { TIMING, type Timing } from './limits.ts';
import { createLog } from './log.ts';
import { createFailureReport, type StateReport } from './report.ts';
import { createSessionLines } from './show.ts';

export interface DaemonOptions {
  places: readonly Place[];
  report: StateReport;
  timing?: Partial<Timing>;
}

interface Opened {
  pipeline: Pipeline;
  consent: Consent;
}

/**
 * Captures until the context's signal. Throws an error that prevents the start, for instance a second daemon. After the
 * start, errors that a person or the service can fix do not end it.
 */
export async function runDaemon(context: Context, options: DaemonOptions, output: Output): Promise<void> {
  const { places, report } = options;
  const timing = { ...TIMING, ...options.timing };
  const folder = stateFolder(context);
  const lock = await becomeDaemon(folder, context);
  const log = createLog(folder, context, output);
  const stampOf = (...names: string[]) =>
    names.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs).join();
  /** A stamp of the person's decisions about capturing. */
  const wishesOf = ({ decisions }: Spool) => `${stampOf('preferences.json')} ${decisions.revision()}`;
  const reportFailure = createFailureReport(context, report, timing.heartbeatMs);
  let signIn = '';

  async function open(): Promise<Opened> {
    signIn = stampOf('config.json');
    // While the preferences cannot be read, nothing may be captured: nobody knows which sessions are excluded.
    readPreferences(context);
    const pipeline = await openPipeline(context, { recalls: true });
    try {
      return { pipeline, consent: findConsent(pipeline) };
    } catch (error) {
      closeQuietly(pipeline);
      throw error;
    }
  }

  /** If nobody decided about earlier sessions, they stay on this machine. */
  function findConsent({ spool }: Pipeline): Consent {
    const { isNew, ...consent } = ensureConsent(spool.decisions, context.now());
    const earlier = isNew && consent.history === 'none' ? findTranscripts(places, () => {}).length : 0;
    if (earlier > 0) {
      const are = `${formatCount(earlier, 'earlier transcript')} ${earlier === 1 ? 'is' : 'are'}`;
      const sentence = `Sessions are captured from now on. ${are} not: \`capture init --history all\` sends them.`;
      log.info(sentence);
      output.say(sentence);
    }
    return consent;
  }

  /** Captures until the signal, or until the spool must be opened again. */
  async function captureWith({ pipeline, consent }: Opened): Promise<void> {
    log.info(`Capturing for ${nameOf(pipeline)}.`);
    const ending = new AbortController();
    const signal = AbortSignal.any([context.stop, ending.signal]);
    const options = { pipeline, places, consent, signal, log, timing, report };
    const capturing = captureLive(context, options);
    const change = untilChange(pipeline, signal);
    try {
      await Promise.race([capturing, change]);
    } catch (error) {
      if (lock.isLost()) throw error;
      log.warn(`Capturing starts again: ${describe(error)}`);
      const pauseMs = damageOf(error) === undefined ? timing.restartMs : timing.settleMs;
      await sleep(pauseMs, undefined, { signal: context.stop }).catch(() => {});
    } finally {
      ending.abort();
      await Promise.allSettled([change, capturing]);
      closeQuietly(pipeline);
    }
  }

  /** Waits until something has changed from outside, so that capturing must begin again. */
  async function untilChange({ spool, policy }: Pipeline, signal: AbortSignal): Promise<void> {
    const showSessions = createSessionLines(context, output, spool);
    const decisionsPath = join(folder, DECISIONS_FILE);
    const spoolFile = inodeOf(spool.path);
    const decisionsFile = inodeOf(decisionsPath);
    const wishes = wishesOf(spool);
    for (let time = context.now(); ; time = context.now()) {
      const before = performance.eventLoopUtilization();
      await sleep(timing.careMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      if (lock.isLost()) throw deleted(folder);
      if (inodeOf(spool.path) !== spoolFile) return log.warn(`${spool.path} was deleted, and is created again.`);
      if (inodeOf(decisionsPath) !== decisionsFile) return log.warn(`${decisionsPath} was deleted or replaced.`);
      if (stampOf('config.json') !== signIn) return log.info('There is a new sign-in.');
      if (wishesOf(spool) !== wishes) return log.info('A rule about capturing has changed.');
      // Waiting events may be excluded now, although no transcript has changed.
      if (policy.refresh()) policy.store();
      // A long look at many transcripts, or at a slow disk, is not a sleep. If it counted as one, capturing would begin again
      // and take as long again.
      const { active: busyMs } = performance.eventLoopUtilization(before);
      const isJump = Math.abs(context.now() - time - timing.careMs) > timing.jumpMs + busyMs;
      if (isJump) return log.info('The clock was set, or the machine has slept: everything is checked again.');
      showSessions();
    }
  }

  try {
    let opened: Opened | undefined = await open();
    output.say(`Capturing for ${nameOf(opened.pipeline)}. Stop with Ctrl-C.`);
    while (true) {
      if (opened) await captureWith(opened);
      if (context.stop.aborted) break;
      opened = await open().catch(async (error: unknown) => {
        if (lock.isLost()) throw deleted(folder);
        const { message, hint = '' } = toFailure(error);
        log.warn(`Capturing cannot start and will be retried: ${message} ${hint}`.trimEnd());
        await reportFailure().catch(() => {});
        await sleep(timing.restartMs, undefined, { signal: context.stop }).catch(() => {});
        return undefined;
      });
    }
    log.info('Stopped.');
  } finally {
    lock.release();
  }
}

const nameOf = ({ account, settings }: Pipeline) => account?.organizationName ?? settings.url;

const deleted = (folder: string): Failure =>
  new Failure(
    EXIT.failure,
    `${folder} was deleted while \`capture run\` was using it.`,
    'Sign in again with `capture login`, and start it with `capture restart`.',
  );

const inodeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.ino;

/** Ignores errors, because a damaged spool cannot be closed properly. */
function closeQuietly({ spool }: Pipeline): void {
  try {
    spool.close();
  } catch {
    // Committed records are on the disk.
  }
}
