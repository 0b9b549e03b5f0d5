import { isPlaceholder, isWords, looksRandom } from '../../redact/values.ts';

const LONGEST = 16_384;

/** One run of capitals, small letters and digits: not the name of a model or region, a version or a commit. */
const UNNAMED = /^(?=.{0,200}[A-Z])(?=.{0,200}[a-z])(?=.{0,200}\d)[\w+/=]{24,}$/;

/**
 * Whether to mask a value in everything that is captured. `named`: the value has the name of a secret. A value without such a
 * name must look like nothing but a secret, since each value found here is masked wherever it occurs.
 */
export function isWorthKnowing(value: string, named: boolean): boolean {
  if (value.length < 8 || value.length > LONGEST || new Set(value).size < 5) return false;
  if (value.includes('[REDACTED:') || isLocation(value)) return false;
  if (!named) return UNNAMED.test(value) && looksRandom(value) && !isPlaceholder(value);
  if (isMadeUp(value)) return false;
  if (/^\d+$/.test(value)) return value.length >= 10;
  return !isPlain(value);
}

/** Words, dates and versions: `oauth-personal`, `us-east-1`. A passphrase has more of them. */
function isPlain(value: string): boolean {
  if (!/^[A-Za-z]+(?:[-_. ][A-Za-z]+)*\d{0,2}$/.test(value)) return /^v?\d+(?:[.:-]\d+)+$/.test(value);
  if (!isWords(value)) return false;
  return value.length < 16 || !/[-_. ].+[-_. ]/.test(value);
}

function isMadeUp(value: string): boolean {
  return /^(?:<.*>|\$\{.*\}|\{\{.*\}\}|\$\w+|x+|your[-_ ].*|change.?me.*|placeholder.*|example.*|12345678\d*)$/i.test(
    value,
  );
}

/** Paths and addresses are not secrets. A key may begin with a slash, so only short pieces between slashes count as a path. */
function isLocation(value: string): boolean {
  if (/^(?:~|\.{1,2})?\/[^/\s]*(?:\/[^\s]*)?$/.test(value)) return !(value.length === 40 && looksRandom(value));
  if (/^[A-Za-z]:[\\/]/.test(value)) return true;
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s@]*$/i.test(value) && !/[?&](?:sig|token|key|secret|password)=/i.test(value);
}
