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

/** Placeholders for a secret in documentation. */
const FILLER =
  /^<[a-z][\w-]*$|^\[[^\]]*\]$|^[<{(%$].*[>})%]$|^\$\{?[A-Za-z_]|\$\{|\{\{|<[^<>]*>|^%[A-Z_]+%$|^\*+|x{4,}|\.{3}|…|your|example|placeholder|change.?me|dummy|^\W*(?:[a-z]{2,12}\W)?redacted(?:\W[a-z]{2,12}){0,3}\W*$|insert[-_]|process\.env|%\(|%(?:[-.*]{1,3}\d{0,3})?[sd]|\{[A-Za-z_]\w*\}|^aws4-hmac|import\.meta|os\.environ|getenv|secrets\.|0{6,}|^[a-z_.:/-]*(?:\{\}[a-z_.:/-]*)+$/i;

/** Words that rarely occur in a real secret in running text. `XmlStringMaxLen256` is the type of a field. */
const MADE_UP =
  /password|passwd|^secret|secret$|^test|^foo|^bar|sample|replace|todo|fixme|fake|mock|env\.|0123456789|12345678|abcdef|do.?not.?use|^(?:(?:access|refresh|session|auth|bearer|token|key|api|abc|new|old|my|some|user)[-_.]?){1,3}\d{0,6}$|^[a-z_]*string(?:m(?:in|ax)(?:len(?:gth)?)?\d+){1,3}$|sensitivestring\d+$/i;

/** A password with a word for password in it. */
const PASSWORD_WORD =
  /^(?:your|the|some|new|old|user|1|one)?[-_]?(?:password|passwd|pass|pwd)[-_]?\d{0,3}$|^(?:real.)?secret|secret$|^foo|^bar|placeholder|do.?not.?use|fake|mock|dummy|sample|12345678|0123456789|abcdef/i;

const HARMLESS = new Set(
  'true false null none undefined nil yes no on off default localhost development production staging testing required optional string number boolean object unknown any secret token password bearer basic digest oauth apikey api-key hidden disabled enabled anonymous postgres mysql mongodb redis admin administrator root user guest username seconds minutes hours days vault keychain keyring prompt stdin env environment'.split(
    ' ',
  ),
);

/** `^2.14.1`, `name@2.14.1`: the version of a package with the name of a secret; and the date of a password's change. */
const VERSION =
  /^[~^<>=v]{0,2}\d{1,4}(?:\.(?:\d{1,6}|[*x])){1,3}(?:[-+][\w.-]{1,40})?(?:\s?\|{1,2}\s?[~^<>=v]{0,2}\d{1,4}(?:\.(?:\d{1,6}|[*x])){0,3})*$|^\d{4}-\d\d-\d\d|^[\w@/.-]{1,100}@\d+\.\d+\.\d+|^sha\d{3}[-:/]/;

/**
 * Values that are never secrets, whatever their name: types and algorithms with a number (`Uint8Array`, `ed25519Seed`,
 * `base64-encoded`), code after the quote that closed a text ending in `token=`, a pattern, a version or a date.
 */
const NO_SECRET = [
  /^(?:(?:big)?u?int|float|[uif]|ed|x|curve|secp|sha|aes|md|rsa|base|utf|oauth|openid|http|p|es|hs|rs|bcrypt|argon|scrypt|pbkdf)-?\d{1,5}[a-z_]*\d{0,3}[a-z_]*(?:-(?:encoded|encrypted|hashed|salted))?$/i,
  /^(?:[+,;)\]}?:]|\.concat\()/,
  /^[a-z_]{3,40}=(?:urn|https?)(?::|%3a)/i,
  /\(\?[:=!<]|\\[bsdwu]|\[\^|^\^|^\[?\/\^[[(\\]/,
  VERSION,
];
/** `bufToB64Url`, `AuthenticationMD5Password`, `AUTODETECT_SIGV4`, `a ?? b`. */
const CODE_NAME =
  /^[A-Za-z_$]+\d{1,3}[A-Za-z_][A-Za-z_$]*[:;,]?$|^[a-z]+(?:[A-Z][a-z]+)+\d{1,2}$|^[A-Z][a-z]+\d{1,3}[A-Z]\d{0,4}[A-Za-z]*[a-z]{5}$|^\w*[a-z0-9](?:Key|Token|Password|Secret|Auth)s?$|^[A-Z]{2,}\d*(?:_[A-Z0-9]+)+$|^[A-Z0-9]{2,}(?:_[A-Z0-9]+){2,}$|\?\?|\?[\w.]+:/;

/** `VALID_ACCESS_TOKEN` */
const CONSTANT = /^[A-Z]{2,12}(?:_[A-Z]{2,12}){1,5}$/;

/** Public keys in DER and OpenSSH form, and `PBKDF2WithHmacSHA1`. */
const PUBLIC =
  /^(?:PBKDF2|PBE|AES|RSA|EC|DES|Hmac|SHA\d*)\w*With\w+$|^(?:MII[BC]IjANBg|MIIBojANBg|MIG[ef]MA0G|MFkwEwYHKoZIzj0|MHYwEAYHKoZIzj0|MCowBQYDK2V|(?:ssh-[a-z\d]{3,8} )?AAAA[BCE]3NzaC1)/;

/** Whether a text only takes the place of a secret: `<YOUR_API_KEY>`, `process.env.API_KEY`, `xxxxx`, `true`. */
export function isPlaceholder(value: string): boolean {
  return isFiller(value) || MADE_UP.test(value);
}

/** The same for a value that already looks like a certain provider's secret. */
export function isFiller(value: string): boolean {
  if (HARMLESS.has(value.toLowerCase()) || CONSTANT.test(value)) return true;
  return FILLER.test(value) || new Set(value).size < Math.min(4, value.length);
}

/**
 * `getToken`, `auth-token`, `user.name`, `AUTH_KEY`: words that are joined as in code and prose. In a key of letters only,
 * capitals are about as frequent as small letters. In joined words, capitals are rare, or all letters are capitals.
 */
export function isWords(value: string): boolean {
  if (!/^[$@#._]?[A-Za-z][A-Za-z_.:/ -]*\d{0,2}$/.test(value)) return false;
  const capitals = value.replace(/[^A-Z]/g, '').length / value.replace(/[^A-Za-z]/g, '').length;
  return value.length < 16 || capitals < 0.3 || capitals > 0.8;
}

/** Letters and digits are mixed, without blanks, and with more variety than in words. */
export function looksRandom(value: string, shortest = 16): boolean {
  if (value.length < shortest || !isGraphicAscii(value) || !hasDigitsAndLetters(value)) return false;
  if (isWords(value)) return false;
  return measureEntropy(value) >= (value.length < 16 || /^[0-9a-f-]+$/i.test(value) ? 2.8 : 3.4);
}

/** Only a secret, a hash or an id looks like this: letters and digits follow each other at random. */
export function isSurelyRandom(value: string, shortest: number): boolean {
  return (
    /^[\w+/=.~:@!-]+$/.test(value) &&
    looksRandom(value, shortest) &&
    countChanges(value) >= value.length * (/^[a-z\d]+$/.test(value) ? 0.15 : 0.2) &&
    countWords(value) < 2 &&
    !UUID.test(value) &&
    !(CODE_NAME.test(value) && countVowels(value) >= value.length * 0.15) &&
    !isLocation(value)
  );
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;

export const isHashOrId = (value: string) => HASH.test(value) || UUID.test(value);

const countWords = (value: string) =>
  value.split(/[^A-Za-z0-9]+/).filter((part) => /^[A-Za-z][a-z]{2,}(?:[A-Z][a-z]+)*$/.test(part)).length;

/**
 * How often a digit follows a letter, a letter a digit, or a capital a small letter. In a random text, this happens every
 * second time.
 */
const countChanges = (value: string) => value.match(/[a-z](?=[A-Z0-9])|[A-Z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;

const countVowels = (value: string) => value.match(/[aeiou]/gi)?.length ?? 0;

/**
 * The form of a value in a text: in quotes, bare, after `NAME=`, in a sentence, as the argument after the name, in quotes
 * beside its user or beside the word for password, in the next column, or only near its name.
 */
export type Shape = 'quoted' | 'bare' | 'variable' | 'prose' | 'argument' | 'account' | 'column' | 'loose';

/** Whether the value of a name in running text is a secret. Code and prose name passwords all the time. */
export function isSecretInText(value: string, strength: NameStrength, shape: Shape): boolean {
  // A bare value may be cut short by a letter that is part of it.
  const shortest = strength === 'password' && shape !== 'bare' ? 5 : 6;
  if (value.length < shortest || (NEEDS_LETTERS.has(shape) && !/[A-Za-z]/.test(value))) return false;
  if (hasMark(value) || isFiller(value) || PUBLIC.test(value)) return false;
  if (strength === 'phrase') {
    if (SEED.test(value) || (hasDigitsAndLetters(value) && !/\s/.test(value))) return true;
    return shape !== 'loose' && PHRASE.test(value) && !SENTENCE.test(value);
  }
  if (/\s/.test(value) || (strength === 'password' ? PASSWORD_WORD : MADE_UP).test(value)) return false;
  if (strength === 'key' || strength === 'vendor') return isKey(value, strength, shape);
  if (shape === 'loose') return isSurelyRandom(value, 16) && !/[:!]|=[^=]/.test(value);
  if (isCode(value, strength, shape)) return false;
  return strength === 'weak' ? isRandom(value) : FITS[shape](value, strength);
}

/** Whether a value that is not code may be the value of a `strong` name or a password. */
const FITS: { [shape in Exclude<Shape, 'loose'>]: (value: string, strength: NameStrength) => boolean } = {
  account: (value) => !isNoPassword(value),
  variable: () => true,
  prose: hasDigitsAndLetters,
  argument: (value) => hasDigitsAndLetters(value) || isMixedCase(value),
  column: (value) =>
    value.length >= 6 && hasDigitsAndLetters(value) && (SYMBOLS.test(value) || countChanges(value) > 2),
  bare: (value, strength) => fits(value, strength, false),
  quoted: (value, strength) => fits(value, strength, true),
};

/** In these shapes, a secret has an ASCII letter. This check is cheap, and most text in other alphabets ends here. */
const NEEDS_LETTERS: ReadonlySet<Shape> = new Set<Shape>(['bare', 'prose', 'argument', 'column', 'loose']);

const SYMBOLS = /[!#$%&*+^~?@]/;

function fits(value: string, strength: NameStrength, isQuoted: boolean): boolean {
  const isMixed = hasDigitsAndLetters(value) || PADDED.test(value);
  const isPunctuated = isQuoted && value.length >= 10 && /[^\w.-]/.test(value) && !isWords(value);
  if (isPasswordLabel(value)) return false;
  if (strength === 'password')
    return (
      isMixed ||
      isPunctuated ||
      isMixedCase(value, 10) ||
      (SIGNED_CASE.test(value) && countChanges(value) > 2) ||
      (isQuoted && /[!@#$%^&*+~]/.test(value))
    );
  if (WITHOUT_BLANKS.test(value)) return false;
  if (isMixedCase(value) || isLongNumber(value)) return true;
  if (!isMixed || isWords(value)) return isMixed ? value.length >= 12 : isPunctuated;
  return isQuoted || value.length >= 8;
}

/** A name that may be the key of anything: its value is a secret only if it can be nothing else. */
function isKey(value: string, strength: 'key' | 'vendor', shape: Shape): boolean {
  if (isHashOrId(value)) return shape === 'variable' || (strength === 'vendor' && shape !== 'loose');
  if (isReference(value, strength) || NUMBERED_PART.test(value) || VERSION.test(value)) return false;
  return (
    [value, value.replace(BEFORE_KEY, '')].some((each) => isSurelyRandom(each, 16)) ||
    isMixedCase(value) ||
    LICENCE.test(value)
  );
}

/** The id of one of many parts: `chunk_0f3b9c1d7e5a4826`. */
const NUMBERED_PART = /^(?:block|chunk|entry|event|item|message|msg|node|page|part|row|span|step)[-_][0-9a-f]{8,40}$/i;

/** `29AV1-3OFV9-VVIUB-NKT0I-LRO6V` */
const LICENCE = /^(?=.*\d)(?=.*[A-Z])(?:[A-Z0-9]{4,6}-){3,6}[A-Z0-9]{4,6}$|^(?:[A-Z]{5}-){4,6}[A-Z]{5}$/;

/** `Mid-server-…`, `prod_sk_…`: prefixes that providers add to their keys. */
const BEFORE_KEY = /^(?:[A-Za-z]{1,10}[-_.]){1,3}/;

/** A weak name: its value is a secret only if it looks like one. */
const isRandom = (value: string) =>
  (SIGNED.test(value) && countChanges(value) > 3) ||
  (looksRandom(value) && countWords(value) < 2) ||
  (countChanges(value) >= 4 && isSurelyRandom(value, 10)) ||
  isMixedCase(value) ||
  isLongNumber(value);

/** A number in a program never has that many digits. */
const isLongNumber = (value: string) => /^\d{24,64}$/.test(value) && new Set(value).size > 6;

/** A digit, letters and a sign that no name in code has. */
const SIGNED = /^(?=.*\d)(?=.*[a-z])(?=.*[!#%^&~@$])[\w!#%^&*~@$+-]{8,40}$/i;

const SIGNED_CASE = /^(?=.*[a-z])(?=.*[A-Z])(?=.*[!#%^&~@$+*])[\w!#%^&*~@$+-]{8,40}$/;

/** Letters only, small and capital in random order, and with fewer vowels than in words. */
function isMixedCase(value: string, shortest = 20): boolean {
  if (!/^[A-Za-z_-]{10,200}$/.test(value) || value.length < shortest || countWords(value) > 0) return false;
  return countVowels(value) < value.length * 0.33 && countChanges(value) >= value.length * 0.15;
}

/** Quoted words near passwords that are not passwords: a past tense, or the name of a form's field. */
const isNoPassword = (value: string): boolean =>
  !/^[a-z]{6,20}\d{0,4}$/.test(value) || HARMLESS.has(value) || STATE.test(value) || isPasswordLabel(value);
const STATE =
  /^(?:in|un|not)?(?:required|valid|correct|wrong|empty|expired|hashed|missing|optional|weak|strong|encrypted|changed|allowed|provided|defined|undefined|specified|supplied|string|static|plain|plaintext|forgotten|disabled|protected|confirm|confirmation|reset|update|change|delete|create|username|email|account|login|signin|signup|submit|visible|current|matched?|matches|same|different|short|[a-z]+ed)$/;

/** About twelve small words that do not form a sentence. */
const SEED = /^(?:[a-z]{3,8}[ -]){3,23}[a-z]{3,8}$/;

/** Three or more plain words, none of which describes the phrase. */
const PHRASE = /^[a-z]{2,12}(?:[ -][a-z]{2,12}){2,11}$/;
const SENTENCE =
  /\b(?:pass|phrase|passphrase|password|key|enter|your|the|an?|to|for|of|is|are|be|not|must|no|with|in|from|and|or)\b/;

/** Whether a string in an object under a secret's name is a secret. Here, the name is never a figure of speech. */
export function isSecretInField(value: string, strength: NameStrength, name = ''): boolean {
  if (value.length < 4 || isFieldPlaceholder(value) || VERSION.test(value)) return false;
  if (strength === 'key' || strength === 'vendor') return isSecretInText(value, 'key', 'quoted') && value.length >= 20;
  if (strength === 'phrase' && SEED.test(value)) return true;
  if (strength !== 'weak')
    return !PROSE.test(value) && !isPasswordLabel(value.trim()) && !(strength === 'strong' && isLabel(value, name));
  // `pass`, `token` and `auth` are just as often the name of a message, of a word in a grammar, or of a setting.
  if (value.length < 8 || !isGraphicAscii(value) || isLocation(value) || isReference(value, strength)) return false;
  if (isUserAndPassword(value)) return true;
  return !isWords(value) && (hasDigitsAndLetters(value) || (value.length >= 10 && /[^\w.:/-]/.test(value)));
}

/** The form in headers: base64 of `user:password`. */
export function isUserAndPassword(value: string): boolean {
  return /^[!-9;-~][ -9;-~]*:[ -~]+$|^:[!-~]{8,}$/.test(Buffer.from(value, 'base64').toString('latin1'));
}

/** Padded base64. Nothing else ends like this. */
const PADDED = /^[A-Za-z0-9+/]{5,}={1,2}$/;

function hasDigitsAndLetters(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Without blanks, and without letters that occur only in languages: tokens have neither. */
const isGraphicAscii = (value: string) => /^[!-~]+$/.test(value);

const isFieldPlaceholder = (value: string): boolean =>
  HARMLESS.has(value.toLowerCase()) ||
  /^(?:arn:aws.*|\$\{[^":]*\}|\{[A-Z]+[ _][A-Z _]+\}|\{\{.*\}\}|<[^>]*>|\[[^\]]*\]|\*+|x+|dummy|\W*(?:[a-z]{2,12}\W)?redacted(?:\W[a-z]{2,12}){0,3}\W*|\$[A-Z_]+|process\.env\..*)$/i.test(
    value,
  );

/** A description of the field rather than its value. */
const PROSE = /^[A-Z]?[a-z']+(?: [A-Za-z'(),.-]+){3,}$/;

/**
 * `Mot de passe :`, `Nuova password`, `旧パスワード`: labels of a password, with only letters and blanks. `MeinPasswort`, `senhas`
 * and `Passwort.` may be passwords.
 */
const isPasswordLabel = (value: string): boolean =>
  /^(?=.*\s|[^.,:;?]*$)[\p{L}\p{M}\s.,:;?'’。、，：？]+$/u.test(value) && SAYS_PASSWORD.test(value);
const IDEOGRAPHS = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}ー`;
const SAYS_PASSWORD = new RegExp(
  String.raw`(?<![\p{L}--[${IDEOGRAPHS}]])(?:password|${PASSWORD_WORDS.replace('passe', 'mot_de_passe').replaceAll('_', '\\s')}|(?:${PASSWORD_ELSEWHERE.source})\p{L}{0,2})(?![\p{L}--[${IDEOGRAPHS}]])`,
  'iv',
);

/** A label of an application in another language. Its name also has blanks, or is a word such as `Secret`. */
function isLabel(value: string, name: string): boolean {
  if (!/\s/.test(name)) return /^[A-Z][a-z]+$/.test(name) && WITHOUT_BLANKS.test(value);
  return /\s/.test(value) && LETTERS_AND_COUNTS.test(value);
}
const WITHOUT_BLANKS = new RegExp(`^[${IDEOGRAPHS}、。，：？]+$`, 'u');
const LETTERS_AND_COUNTS = /^(?:[\p{L}\p{M}\s'(),.:;?-]|(?<!\S)\d{1,2}(?!\S))+$/u;

/** Code in the place of a secret. A password may look like a name in code, but hardly contains a word. */
function isCode(value: string, strength: NameStrength, shape: Shape): boolean {
  if (NO_SECRET.some((pattern) => pattern.test(value)) || isLocation(value) || isReference(value, strength))
    return true;
  const mayBeName = shape === 'bare' || shape === 'argument' || shape === 'account';
  const hasNoWords = value.length >= 14 && countVowels(value) < value.length * 0.15 && countChanges(value) > 3;
  return (
    mayBeName &&
    !hasNoWords &&
    CODE_NAME.test(value) &&
    (strength !== 'password' || shape === 'argument' || /[a-z]{3}/.test(value))
  );
}

/** `user.name`, `f(x`, but not random parts with a dot between them. */
function isReference(value: string, strength: NameStrength): boolean {
  if (/^[A-Za-z_$][\w$.]*[([]/.test(value)) return countChanges(value) < 3;
  if (/^[A-Za-z_]\w*(?:(?:::|->)[A-Za-z_]\w*)+(?:\.[A-Za-z_]\w*)*$/.test(value)) return true;
  if (!/^[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->|#)[A-Za-z_$][\w$]*)+[;,)]*$/.test(value)) return false;
  const isToken = isSurelyRandom(value, 16) && (value.match(/\d+/g)?.length ?? 0) > 2;
  return !isToken && !(strength === 'password' && countChanges(value) > 2);
}

const isLocation = (value: string): boolean =>
  !isSlashedKey(value) &&
  /^(?:[a-z][a-z0-9+.-]*:\/\/|arn:|~?\.{0,2}\/[\w.-]*(?:\/|$)|[A-Za-z]:\\)|^[\w.-]+\/[\w.-]+\.[a-z]{1,4}$/.test(value);

/** Base64 with a slash in it, like one in three secret keys of AWS. If no part is a word, it is not a path. */
const isSlashedKey = (value: string): boolean =>
  /^[A-Za-z0-9+/]{32,}={0,2}$/.test(value) && countChanges(value) >= value.length * 0.3 && countWords(value) === 0;

const TOKEN_LETTERS = /[\w+/=.~-]*/y;

/** Where a token ends that is longer than a pattern reads. */
export function endOfToken(text: string, from: number): number {
  TOKEN_LETTERS.lastIndex = from;
  return from + (TOKEN_LETTERS.exec(text)?.[0].length ?? 0);
}
