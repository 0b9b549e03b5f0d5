import { statSync } from 'node:fs';
import { MAX_DAYS, MAX_MEGABYTES, MEGABYTE } from '../../daemon/room.ts';
import { formatAge, formatBytes, formatCount } from '../../output.ts';
import { RULES, RULES_VERSION } from '../../redact/rules/all.ts';
import type { Facts } from '../facts.ts';
import { type Finding, failed, ok, skipped, warning } from '../finding.ts';

const DAY_MS = 86_400_000;
/** From half of its cap on a spool is growing rather than waiting. */
const GROWING_SHARE = 0.5;
const WAITING_MS = 60 * 60_000;

export function checkSpool({ spool, spoolTrouble, preferences, context, daemon }: Facts): Finding[] {
  if (spoolTrouble !== undefined) return [failed(`The spool cannot be opened: ${spoolTrouble}`, 'capture import')];
  if (spool === undefined) return [skipped('Nothing was captured yet, so nothing waits.')];
  const { events, bytes, oldest } = spool.batches.depth();
  const capBytes = (preferences.spool?.maxMegabytes ?? MAX_MEGABYTES) * MEGABYTE;
  const capDays = preferences.spool?.maxDays ?? MAX_DAYS;
  const age = oldest === undefined ? 0 : context.now() - oldest;
  const lastError = spool.getMeta('lastError');
  const why = lastError === undefined ? '' : ` Last error: ${lastError}`;
  const size = `${formatCount(events, 'event')} (${formatBytes(bytes)} of ${formatBytes(capBytes)})`;
  const rebuilt = spool.notice('replaced');
  const send = daemon.running ? 'capture logs -f' : 'capture import';
  const findings: Finding[] = [];
  if (bytes >= capBytes) {
    findings.push(failed(`The spool is at its cap, so nothing more is read: ${size} wait.${why}`, send));
  } else if (bytes >= capBytes * GROWING_SHARE) {
    findings.push(warning(`The spool grows towards its cap: ${size} wait.${why}`, send));
  }
  if (age > capDays * DAY_MS) {
    findings.push(failed(`Events have been waiting for ${formatAge(age)}: ${size}.${why}`, send));
  } else if (findings.length === 0 && age > WAITING_MS) {
    findings.push(warning(`${size} wait, the oldest for ${formatAge(age)}.${why}`, send));
  }
  if (rebuilt) findings.push(warning(rebuilt.sentence, rebuilt.hint ?? 'capture verify'));
  return findings.length > 0 ? findings : [ok(events === 0 ? 'All that was captured is sent.' : `${size} wait.`)];
}

export function checkRefused({ spool }: Facts): Finding {
  const refused = spool?.refused.perProblem() ?? [];
  if (refused.length === 0) return ok('The service has refused no event.');
  const events = refused.reduce((sum, problem) => sum + problem.events, 0);
  const sentence = `${formatCount(events, 'event')} refused by the service and set aside: ${refused[0]?.problem}.`;
  return warning(sentence, 'capture spool export --to refused.jsonl && capture spool drop --refused');
}

export function checkQuarantined({ quarantined }: Facts): Finding {
  if (quarantined.length === 0) return ok('No damaged spool was put aside.');
  const bytes = quarantined.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  const sentence = `${formatCount(quarantined.length, 'damaged spool')} kept aside, ${formatBytes(bytes)}.`;
  return warning(sentence, `capture verify && rm ${quarantined.map((path) => `'${path}'*`).join(' ')}`);
}

const FREE_WARNING = 1_000_000_000;
const FREE_FAILURE = 50_000_000;

export function checkDisk({ state, freeBytes }: Facts): Finding {
  const free = freeBytes(state);
  if (free >= FREE_WARNING) return ok('There is room on the disk.');
  const sentence = `The disk with ${state} has ${formatBytes(free)} left.`;
  if (free >= FREE_FAILURE) return warning(sentence, `df -h ${state}   # and make room`);
  return failed(`${sentence} Capture stops when it is full.`, `df -h ${state}   # and make room`);
}

export function checkRedaction({ spool }: Facts): Finding {
  const rules = `${RULES.length} rules, version ${RULES_VERSION}`;
  const withheld = spool?.counters().recordsWithheld ?? 0;
  if (withheld === 0) return ok(`Secrets are masked by ${rules}; no record had to be withheld.`);
  const sentence = `${formatCount(withheld, 'record')} withheld, since masking them failed or took too long (${rules}).`;
  return warning(sentence, 'capture redact --test FILE   # says what is masked in a transcript');
}
