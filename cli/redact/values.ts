import { hasMark } from './mark.ts';
import { type NameStrength, PASSWORD_ELSEWHERE, PASSWORD_WORDS } from './names.ts';

/** Bits per character of the text's own letter distribution. */
export function measureEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Fills the place of a secret in documentation. */
const FILLER =
  /^[<[{(%$].*[>\]})%]$|^\$\{?[A-Za-z_]|\$\{|\{\{|<[^<>]*>|^%[A-Z_]+%$|^\*+|x{4,}|\.{3}|…|your|example|placeholder|change.?me|dummy|redacted|insert[-_]|process\.env|%\(|%[sd]|\{[A-Za-z_]\w*\}|^aws4-hmac|import\.meta|os\.environ|getenv|secrets\.|0{6,}|^[a-z_.:/-]*(?:\{\}[a-z_.:/-]*)+$/i;

/** Words that a real secret in running text hardly has in it. */
const MADE_UP =
  /password|passwd|^secret|secret$|^test|^foo|^bar|sample|replace|todo|fixme|fake|mock|env\.|0123456789|12345678|abcdef|do.?not.?use|^(?:(?:access|refresh|session|auth|bearer|token|key|api|abc|new|old|my|some|user)[-_.]?){1,3}\d{0,6}$/i;

/** A password that is called one. */
const PASSWORD_WORD =
  /^(?:your|the|some|new|old|user)?[-_]?(?:password|passwd|pass|pwd)[-_]?\d{0,3}$|^(?:real.)?secret|secret$|^foo|^bar|placeholder|do.?not.?use|fake|mock|dummy|sample|12345678|0123456789|abcdef/i;

const HARMLESS = new Set(
  'true false null none undefined nil yes no on off default localhost development production staging testing required optional string number boolean object unknown any secret token password bearer basic digest oauth apikey api-key hidden disabled enabled anonymous postgres mysql mongodb redis admin administrator root user guest username seconds minutes hours days vault keychain keyring prompt stdin env environment'.split(
    ' ',
  ),
);

/** Types and algorithms that carry a number: `Uint8Array`, `sha256Hex`, `ed25519Seed`. */
const TECHNICAL =
  /^(?:(?:big)?u?int|float|[uif]|ed|x|curve|secp|sha|aes|md|rsa|base|utf|oauth|openid|http|p|es|hs|rs)\d{1,5}[a-z_]*\d{0,3}[a-z_]*$/i;

/** How a password is kept: `bcrypt12`, `argon2id`, `base64-encoded`. */
const KEPT_AS =
  /^(?:bcrypt|argon|scrypt|pbkdf|base|sha|md|utf|aes|rsa)-?\d{1,4}[a-z]{0,2}(?:-(?:encoded|encrypted|hashed|salted))?$/i;

/** What follows a quote that closed a text ending in `token=`: code. */
const CODE = /^(?:[+,;)\]}?:]|\.concat\()/;
/** What an unquoted value of code has in it. */
const OPERATOR = /\?\?|\?[\w.]+:/;
/** `bufToB64Url`, `AuthenticationMD5Password`. */
const CODE_NAME =
  /^[A-Za-z_$]+\d{1,3}[A-Za-z_$]+[:;,]?$|^[a-z]+(?:[A-Z][a-z]+)+\d{1,2}$|^\w*[a-z0-9](?:Key|Token|Password|Secret|Auth)s?$|^[A-Z0-9]{2,}(?:_[A-Z0-9]+){2,}$/;
/** `AUTODETECT_SIGV4`, in a list of what may stand for a token. */
const CONSTANT = /^[A-Z]{2,}\d*(?:_[A-Z0-9]+)+$/;
/** A regular expression. */
const PATTERN = /\(\?[:=!<]|\\[bsdwu]|\[\^|^\^|^\[?\/\^[[(\\]/;
/** `^2.14.1`: what a package with the name of a secret depends on; and when a password was changed. */
const VERSION = /^[~^<>=v]{0,2}\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+][\w.-]{1,40})?$|^\d{4}-\d\d-\d\d/;

/** Stands where a secret would, and is none: `<YOUR_API_KEY>`, `process.env.API_KEY`, `xxxxx`, `true`. */
export function isPlaceholder(value: string): boolean {
  return isFiller(value) || MADE_UP.test(value);
}

/** The same for a value that already looks like the secret of a certain provider. */
export function isFiller(value: string): boolean {
  if (HARMLESS.has(value.toLowerCase())) return true;
  return FILLER.test(value) || new Set(value).size < Math.min(4, value.length);
}

/**
 * `getToken`, `auth-token`, `user.name`, `AUTH_KEY`: words, joined the way code and prose join them. In a key made of
 * letters alone capitals are about as frequent as small letters; between words they are rare, or all there is.
 */
export function isWords(value: string): boolean {
  if (!/^[$@#._]?[A-Za-z][A-Za-z_.:/ -]*\d{0,2}$/.test(value)) return false;
  const capitals = value.replace(/[^A-Z]/g, '').length / value.replace(/[^A-Za-z]/g, '').length;
  return value.length < 16 || capitals < 0.3 || capitals > 0.8;
}

/** Letters and digits mixed, without blanks, and more variety than words have. */
export function looksRandom(value: string, shortest = 16): boolean {
  if (value.length < shortest || !isGraphicAscii(value) || !hasDigitsAndLetters(value)) return false;
  if (isWords(value)) return false;
  return measureEntropy(value) >= (value.length < 16 || /^[0-9a-f-]+$/i.test(value) ? 2.8 : 3.4);
}

/** Nothing but a secret, a hash or an id looks so: letters and digits follow each other as they come. */
export function isSurelyRandom(value: string, shortest: number): boolean {
  if (!/^[\w+/=.~:@!-]+$/.test(value) || !looksRandom(value, shortest)) return false;
  return (
    countChanges(value) >= value.length * (/^[a-z\d]+$/.test(value) ? 0.15 : 0.2) &&
    countWords(value) < 2 &&
    !UUID.test(value) &&
    !CODE_NAME.test(value) &&
    !isLocation(value)
  );
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;

const countWords = (value: string) =>
  value.split(/[^A-Za-z0-9]+/).filter((part) => /^[A-Za-z][a-z]{2,}(?:[A-Z][a-z]+)*$/.test(part)).length;

/** How often a digit follows a letter, a letter a digit, or a capital a small letter: every second time in a random text. */
function countChanges(value: string): number {
  return value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
}

/**
 * How a value stands in a text: in quotes, bare, behind `NAME=`, in a sentence, the argument after the name, in quotes beside the user it is of or what is
 * said to be the password, or beside its name only.
 */
export type Shape = 'quoted' | 'bare' | 'variable' | 'prose' | 'argument' | 'account' | 'loose';

/** Whether the value of a name found in running text is a secret: code and prose name passwords all the time. */
export function isSecretInText(value: string, strength: NameStrength, shape: Shape): boolean {
  if (value.length < 6 || hasMark(value) || isFiller(value)) return false;
  if (strength === 'phrase') return SEED.test(value) || (hasDigitsAndLetters(value) && !/\s/.test(value));
  if (/\s/.test(value) || (strength === 'password' ? PASSWORD_WORD : MADE_UP).test(value)) return false;
  if (strength === 'key' || strength === 'vendor') return isKey(value, strength, shape);
  if (shape === 'loose') return isSurelyRandom(value, 16) && !/[:!]|=[^=]/.test(value);
  if (CODE.test(value) || TECHNICAL.test(value) || PATTERN.test(value) || VERSION.test(value) || isLocation(value))
    return false;
  if (isReference(value) && !(strength === 'password' && countChanges(value) > 2) && !isDottedToken(value))
    return false;
  if (
    shape !== 'quoted' &&
    (OPERATOR.test(value) || (shape !== 'variable' && shape !== 'prose' && isCodeName(value, strength)))
  )
    return false;
  if (strength === 'weak')
    return (
      (looksRandom(value) && countWords(value) < 2) ||
      (countChanges(value) >= 4 && isSurelyRandom(value, 10)) ||
      isMixedCase(value)
    );
  const mixed = hasDigitsAndLetters(value);
  if (shape === 'account') return !isNoPassword(value);
  if (shape === 'variable') return mixed || (value.length >= 6 && !HARMLESS.has(value.toLowerCase()));
  if (shape === 'prose' || shape === 'argument') return mixed && !CONSTANT.test(value) && !KEPT_AS.test(value);
  if (isPasswordLabel(value) || (strength !== 'password' && LETTERS_WITHOUT_BLANKS.test(value))) return false;
  const isPunctuated = shape === 'quoted' && value.length >= 10 && /[^\w.-]/.test(value) && !isWords(value);
  if (strength === 'password') return mixed || isPunctuated || (shape === 'quoted' && /[!@#$%^&*+~]/.test(value));
  if (isWords(value)) return mixed && value.length >= 12;
  if (isMixedCase(value)) return true;
  return mixed ? shape === 'quoted' || value.length >= 8 : isPunctuated;
}

/** What a name that is a key of anything holds only where it is nothing else. */
function isKey(value: string, strength: 'key' | 'vendor', shape: Shape): boolean {
  if (isReference(value) && !isDottedToken(value)) return false;
  if (HASH.test(value) || UUID.test(value)) return shape === 'variable' || (strength === 'vendor' && shape !== 'loose');
  if (NUMBERED_PART.test(value)) return false;
  return isSurelyRandom(value, 16) || isRandomBehindWords(value) || isMixedCase(value) || LICENCE.test(value);
}

/** The id of one of many parts: `chunk_0f3b9c1d7e5a4826`. */
const NUMBERED_PART = /^(?:block|chunk|entry|event|item|message|msg|node|page|part|row|span|step)[-_][0-9a-f]{8,40}$/i;

/** `29AV1-3OFV9-VVIUB-NKT0I-LRO6V` */
const LICENCE = /^(?=.*\d)(?=.*[A-Z])(?:[A-Z0-9]{4,6}-){3,6}[A-Z0-9]{4,6}$|^(?:[A-Z]{5}-){4,6}[A-Z]{5}$/;

/** `Mid-server-…`, `prod_sk_…`: what providers put before their keys. */
function isRandomBehindWords(value: string): boolean {
  const rest = value.replace(/^(?:[A-Za-z]{1,10}[-_.]){1,3}/, '');
  return rest !== value && isSurelyRandom(rest, 14);
}

/** Letters alone, small and capital as they come, and with fewer vowels than words have. */
function isMixedCase(value: string): boolean {
  if (!/^[A-Za-z_-]{20,200}$/.test(value)) return false;
  const vowels = value.match(/[aeiou]/gi)?.length ?? 0;
  return vowels < value.length * 0.33 && countChanges(value) >= value.length * 0.15 && countWords(value) === 0;
}

/** What is said of passwords in quotes, and is none: what was done to it, the name of its field in a form. */
const isNoPassword = (value: string): boolean =>
  !/^[a-z]{6,20}\d{0,4}$/.test(value) || HARMLESS.has(value) || STATE.test(value) || CALLED.test(value);
const STATE =
  /^(?:in|un|not)?(?:required|valid|correct|wrong|empty|expired|hashed|missing|optional|weak|strong|encrypted|changed|allowed|provided|defined|undefined|specified|supplied|string|static|plain|plaintext|forgotten|disabled|protected|confirm|confirmation|reset|update|change|delete|create|username|email|account|login|signin|signup|submit|visible|current|matched?|matches|same|different|short|[a-z]+ed)$/;
/** What a password is called, and none. */
const CALLED = new RegExp(`^(?:mot[ _]de[ _])?(?:${PASSWORD_WORDS})$`, 'i');

/** Random parts with a dot between them, and not `win32api.RegEnumKey`. */
const isDottedToken = (value: string) => isSurelyRandom(value, 16) && (value.match(/\d+/g)?.length ?? 0) > 2;

/** A password may look like a name of code, but hardly has a word in it. */
const isCodeName = (value: string, strength: NameStrength) =>
  CODE_NAME.test(value) && (strength !== 'password' || /[a-z]{3}/.test(value));

/** Twelve small words, more or less, and no sentence. */
const SEED = /^(?:[a-z]{3,8}[ -]){3,23}[a-z]{3,8}$/;

/** Whether a string that an object holds under a secret's name is one: here the name is no figure of speech. */
export function isSecretInField(value: string, strength: NameStrength, name = ''): boolean {
  if (value.length < 4 || isFieldPlaceholder(value) || VERSION.test(value)) return false;
  if (strength === 'key' || strength === 'vendor') return isSecretInText(value, 'key', 'quoted') && value.length >= 20;
  if (strength === 'phrase' && SEED.test(value)) return true;
  if (strength !== 'weak')
    return !PROSE.test(value) && !isPasswordLabel(value.trim()) && !(strength === 'strong' && isLabel(value, name));
  // `pass`, `token` and `auth` are as often the name of a message, of a word in a grammar, of a setting.
  if (value.length < 8 || !isGraphicAscii(value) || isLocation(value)) return false;
  if (isReference(value) && !isDottedToken(value)) return false;
  if (isWords(value)) return isUserAndPassword(value);
  return hasDigitsAndLetters(value) || (value.length >= 10 && /[^\w.:/-]/.test(value)) || isUserAndPassword(value);
}

/** As a header has them: base64 of `user:password`. */
export function isUserAndPassword(value: string): boolean {
  return /^[!-9;-~][ -9;-~]*:[ -~]+$|^:[!-~]{8,}$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

const hasDigitsAndLetters = (value: string) => /\d/.test(value) && /[A-Za-z]/.test(value);

/** Without blanks, and none of the letters that only languages use: tokens have neither. */
const isGraphicAscii = (value: string) => /^[!-~]+$/.test(value);

function isFieldPlaceholder(value: string): boolean {
  return (
    HARMLESS.has(value.toLowerCase()) ||
    /^(?:arn:aws.*|\$\{[^":]*\}|\{[A-Z]+[ _][A-Z _]+\}|\{\{.*\}\}|<[^>]*>|\[.*\]|\*+|x+|dummy|.*redacted.*|\$[A-Z_]+|process\.env\..*)$/i.test(
      value,
    )
  );
}

/** A description of the field rather than its value. */
const PROSE = /^[A-Z]?[a-z']+(?: [A-Za-z'(),.-]+){3,}$/;

/** `Mot de passe :`, `Nuova password`, `旧パスワード`: what a password is called, in letters and blanks alone. */
const isPasswordLabel = (value: string): boolean =>
  CALLED.test(value) || (/^[\p{L}\p{M}\s.,:;?'’。、，：？]+$/u.test(value) && SAYS_PASSWORD.test(value));
const SPOKEN = `(?:password|${PASSWORD_WORDS.replace('passe', 'mot_de_passe').replaceAll('_', '\\s')})`;
const WITHOUT_BLANKS = String.raw`[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー、。，：？]`;
const SAYS_PASSWORD = new RegExp(
  String.raw`(?<!\p{L})(?:${SPOKEN}(?=\s)|(?<=\s|['’])${SPOKEN}(?!\p{L})|(?:${PASSWORD_ELSEWHERE.source})\p{L}{0,3}(?!\p{L}))|^${WITHOUT_BLANKS}{0,40}?(?:${PASSWORD_ELSEWHERE.source})${WITHOUT_BLANKS}*$`,
  'iu',
);

/** What an application says, in another language: its name has blanks, too, or is a word such as `Secret`. */
function isLabel(value: string, name: string): boolean {
  if (!/\s/.test(name)) return /^[A-Z][a-z]+$/.test(name) && LETTERS_WITHOUT_BLANKS.test(value);
  return /\s/.test(value) && (SENTENCE.test(name) ? LETTERS_AND_COUNTS : LETTERS).test(value);
}
const LETTERS_WITHOUT_BLANKS = new RegExp(`^${WITHOUT_BLANKS}+$`, 'u');
const LETTERS = /^[\p{L}\p{M}\s'(),.:;?-]+$/u;
const LETTERS_AND_COUNTS = /^(?:[\p{L}\p{M}\s'(),.:;?-]|(?<!\S)\d{1,2}(?!\S))+$/u;
const SENTENCE = /(?:\s\S+){3}|\s.*[.?!:]$/;

function isReference(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|#)[A-Za-z_$][\w$]*)+[;,)]*$/.test(value) ||
    (/^[A-Za-z_$][\w$.]*[([]/.test(value) && countChanges(value) < 3)
  );
}

function isLocation(value: string): boolean {
  return (
    /^(?:[a-z][a-z0-9+.-]*:\/\/|arn:|~?\.{0,2}\/[\w.-]*(?:\/|$)|[A-Za-z]:\\)/.test(value) ||
    /^[\w.-]+\/[\w.-]+\.[a-z]{1,4}$/.test(value)
  );
}
