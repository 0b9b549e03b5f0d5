import { formatAge } from '../../output.ts';
import { VERSION } from '../../version.ts';
import type { Facts } from '../facts.ts';
import { type Finding, failed, ok, skipped, warning } from '../finding.ts';

const LOGIN = 'capture login';
const MAX_SKEW_MS = 5 * 60_000;

export function checkSignIn({ settings, settingsTrouble, account }: Facts): Finding {
  if (settingsTrouble !== undefined) return failed(settingsTrouble, LOGIN);
  if (settings.secret === undefined) return failed('Nobody is signed in, so nothing is captured.', LOGIN);
  const whom = account?.organizationName ? ` for ${account.organizationName}, ${account.plane} plane` : '';
  return ok(`Signed in${whom}.`);
}

export function checkService({ settings: { url }, service }: Facts): Finding {
  const { answer, version, trouble, account } = service;
  if (answer === 'unasked') return skipped('Where the service is, is not known yet.');
  if (answer === 'other') {
    return failed(`What answers at ${url} is not the service: ${trouble}.`, `${LOGIN} --url ADDRESS`);
  }
  if (answer === 'no') {
    const fix = `curl ${url}/health   # nothing is lost meanwhile; behind a proxy: capture --help`;
    return failed(`The service at ${url} cannot be reached: ${trouble}.`, fix);
  }
  if (service.secret === 'accepted' && account?.organizationName === undefined) {
    const fix = 'Ask whoever runs the service to update it.';
    return warning('The service is too old to say whose a secret is; sessions get the time of their upload.', fix);
  }
  return ok(`The service at ${url} answers${version ? `, version ${version}` : ''}.`);
}

export function checkSecret({ service: { secret }, settings }: Facts): Finding {
  if (settings.secret === undefined || secret === 'unasked') return skipped('The secret could not be tried.');
  if (secret === 'accepted') return ok('The service accepts the secret.');
  const sentence = 'The service refuses the secret: it is wrong or was revoked. What is captured is kept meanwhile.';
  return failed(sentence, `${LOGIN}   # with a new secret from an administrator`);
}

export function checkClock({ service: { aheadMs } }: Facts): Finding {
  if (aheadMs === undefined) return skipped('The clock could not be compared with that of the service.');
  const sentence = `The clock of this machine is ${formatAge(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead' : 'behind'}.`;
  if (Math.abs(aheadMs) > MAX_SKEW_MS) return warning(sentence, 'sudo timedatectl set-ntp true');
  return ok('The clock agrees with that of the service.');
}

export function checkVersion({ service: { version } }: Facts): Finding {
  if (version === undefined) return skipped(`capture ${VERSION}; the version of the service is not known.`);
  const order = compareVersions(VERSION, version);
  if (order < 0) {
    const sentence = `capture ${VERSION} is older than the service (${version}).`;
    return warning(sentence, 'npm install --global @session-capture/cli@latest');
  }
  return ok(`capture ${VERSION} is ${order === 0 ? 'as new as' : 'newer than'} the service.`);
}

/** Negative where the first is older. What follows a hyphen does not count. */
function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((text) =>
    text
      .replace(/[-+].*/, '')
      .split('.')
      .map(Number),
  );
  const differing = [0, 1, 2].map((index) => (a?.[index] ?? 0) - (b?.[index] ?? 0));
  return differing.find((difference) => difference !== 0) ?? 0;
}

/** What the daemon was told when it last tried: to find out anew, it would have to register. */
export function checkHeld({ spool }: Facts): Finding[] {
  if (spool === undefined) return [skipped('Nothing was sent yet, so nothing was refused.')];
  const [held, some] = [spool.notice('held'), spool.notice('heldSome')];
  const findings = [held && failed(held.sentence, held.hint ?? 'capture logs')].filter((one) => one !== undefined);
  if (some) findings.push(warning(some.sentence, some.hint ?? 'capture logs'));
  return findings.length > 0 ? findings : [ok('Neither this machine nor an agent of it is shut out by the service.')];
}
