import { createNameReader, type NameStrength } from './names.ts';
import { isSecretInText, isSurelyRandom, type Shape } from './values.ts';

/** What a name of a secret has in it. `assignments.ts` looks at what stands around each of them. */
export const NAME_KEYWORDS = [
  'pass',
  'pwd',
  'psw',
  'pw:',
  'pw=',
  'pw ',
  'secret',
  'token',
  'key',
  'auth',
  'credential',
  'bearer',
  'conn',
  '_pat',
  'pat=',
  'kennwort',
  'contrase',
  'senha',
  'wachtwoord',
  'jwt',
  'csrf',
  'psk',
  'senord',
  'adgangskode',
  'salasana',
  'heslo',
  'jelsz',
  'sandi',
];

export const KEY_NAME = 'key-name';

const NAME_LIMIT = 64;
const VALUE_LIMIT = 2048;
/** Letters of a long value that tell what it is. */
const SAMPLE = 100;

const QUOTED_NAME = String.raw`(?:\\{0,7}["'\x60])?`;
/** What may stand between a name and its value; the first that fits decides how the value is looked at. */
const SEPARATORS: readonly (readonly [Shape | undefined, RegExp])[] = [
  // `name: string = "…"`, `var name string = "…"`, `name: |` with the value on the next line.
  [
    undefined,
    /\??[ \t]{0,2}:[ \t]{0,2}&?[A-Za-z_][\w.]{0,20}(?:[<[][\w<>[\], ]{0,20}[>\]])?(?: ?\| ?\w{1,12})?[ \t]{1,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y,
  ],
  [undefined, /[ \t]{1,8}(?:string|str|&str)[ \t]{0,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y],
  ['bare', /:[ \t]{0,3}[|>][+-]?[ \t]{0,3}(?:\r?\n|\\{1,7}n)[ \t]{1,24}/y],
  [
    undefined,
    new RegExp(
      String.raw`${QUOTED_NAME}[\])]{0,2}[ \t]{0,4}(?::{2,3}=|:-|[:?+.!|]?[=＝]{1,3}>?|[:：](?!:)|->|<-|\|\||(?:\?[?:]|or)(?=\x20["']))[ \t]{0,4}(?:[\[(][\s]{0,8}(?=\\{0,7}["'\x60]))?(?:[@$A-Za-z]{1,2}(?=["']))?`,
      'y',
    ),
  ],
  // `name: API_KEY`, on the next line `value: …`: how containers list their environment; and `key="…" value="…"`.
  [
    undefined,
    /<\/key>\s{0,24}<(?:value|string)>|(?:\\{0,7}["'])?,?(?:\r?\n|\\{1,7}n|[ \t]){1,40}(?:\\{0,7}["'])?value(?:\\{0,7}["'])?[ \t]?[:=][ \t]{0,4}/iy,
  ],
  // `variable "name" { … default = "…"`.
  [undefined, /\\{0,7}"[ \t]{0,2}\{[^{}]{0,160}?default[ \t]{0,20}=[ \t]{0,4}/y],
  // `setenv("NAME", "…")`.
  ['argument', /(?:(?:(?:\\{0,7}["'])?\])?\\{0,7}["'`]|(?<=[A-Z]{3}))[ \t]{0,2},[ \t\r\n]{0,10}(?=\\{0,7}["'`])/y],
];
const AFTER_TAG = />\s{0,20}/y;
const AFTER_FLAG = /[ \t]{1,4}/y;
const BEFORE_VALUE = /(?:(?:^|[\s"'`(\\nt])(?:set|setx|env|define|const|arg|export)[ \t]{1,4}|[\s"'`]--?)$/i;
/** `PASSWORD '…'`, as SQL has it. */
const BEFORE_QUOTE = /[ \t]{1,4}(?=["'])/y;
/** `password for ada: …`, `the password is …`; and `user ada and password …`, where the value has to have a digit. */
const PROSE =
  /(?:(?: is generated)?(?: (?:for|of|to|für|von|pour|de|para|для|от) [^\s:=]{1,40}| [([][a-z ]{2,20}[)\]])?(?: ?: {1,3}| ?(?:是|为|為|は|：) {0,3}(?=[!-~「“])| (?:is|was|ist|lautet|est|es|é|è|er|är|это|set to|to|geändert auf|auf|→|->|–|—|-)(?: now)?:? {1,3}|(?<=[\u0370-\u1fff]) )|(?<=(?:\b(?:and|with|und|mit|et|y)(?: the| dem)?|,) [A-Za-z]{4,12}) (?=["'`]?[^\s/]{0,64}[A-Z\d][^\s/]{0,64}\d[^\s/]{0,64}(?:\s|$)))["'`「“«]?/y;
/** `token - '…'`, `secret …`, and a value on the next line or as the next part of an address. */
const LOOSE =
  /(?:(?=[ \t"'`([{:-])["'`]?[ \t]{0,4}(?:(?:[-–—:=>|~]{1,3}|is|was)[ \t]{1,4}|\|)?["'`([{]{0,3}|[ \t:]{0,4}(?:\r?\n|\\{1,7}n)[ \t>|-]{0,24}["'`]?|\/)(?=[\w+/=.~-]{16})/y;
const LOOSE_VALUE = /[\w+/=.~:-]{16,512}/y;
/** A user, or where to connect to, said to be this: a plain word beside it is a password. */
const ACCOUNT =
  /(?:user|username|user_name|login|uid|host|hostname|server|database|db|dbname)\\{0,3}["']?[ \t]{0,3}(?:={1,3}>?|:)[ \t]{0,3}\\{0,3}["'][^"'\\\s]{2,60}\\{0,3}["']/i;
const ACCOUNT_BEFORE = 160;
const SCHEME = /(?:bearer|basic|token|bot|ssws|apikey|digest|ntlm|negotiate)[ \t]{1,4}/iy;
const OPENING = /(\\{0,7})(["'`])/y;
/** Not the name of another assignment: `auth=token=…` is read at the last of them. */
const BARE = /(?![A-Za-z_]{1,24}\d?=[^=\s"'])[^\s"'`\\,;&<>|{}()[\]，。；、（）「」”»]{1,800}/y;
const BARE_VARIABLE = /(?![A-Za-z_]{1,24}\d?=[^=\s"'])[^\s"'`\\]{0,799}[^\s"'`\\;,]/y;
/** `XmlStringMaxLen256`, `SensitiveString2048`, `__stringMin32Max32`, as a declaration has them; `MyString2024` may be a secret. */
const NUMBERED_TYPE = /^(?:[A-Za-z_]*[Ss]tring(?:M(?:in|ax)(?:Len(?:gth)?)?\d+)+|[A-Za-z]*SensitiveString\d+)$/;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

export interface Assignment {
  start: number;
  end: number;
}

/**
 * Reads `KEY=VALUE`, `"key": "value"`, `Header: value`, `--key value`, `<key>value</key>` and what else puts a value behind
 * a name. Gives the place of the value when it is a secret.
 */
export function createAssignmentReader() {
  const readName = createNameReader();
  let last = { text: '', keyword: 0, end: 0 };

  /** `keywordEnd` is given where the keyword is a name already. */
  return (text: string, keywordStart: number, keywordEnd?: number): Assignment | undefined => {
    // A name has several keywords in it, and so may a value that is masked as a whole: `client_secret_key=…`.
    if (keywordStart > last.keyword && keywordStart < last.end && text === last.text) return undefined;
    const nameEnd = keywordEnd ?? endOfName(text, keywordStart);
    const value = isBeforeValue(text.charCodeAt(nameEnd))
      ? readAround(text, keywordStart, nameEnd, readName)
      : undefined;
    last = { text, keyword: keywordStart, end: value?.end ?? nameEnd };
    return value;
  };
}

type ReadName = ReturnType<typeof createNameReader>;

function readAround(text: string, keywordStart: number, nameEnd: number, readName: ReadName): Assignment | undefined {
  const nameStart = startOfName(text, keywordStart);
  if (text[nameEnd - 1] === '-') return undefined;
  // `AWS::KMS::Key`, `arn:aws:secretsmanager:…:secret:…`: a part of a longer name.
  const isPart = text[nameStart - 1] === ':' && text[nameEnd] !== '=' && /[\w*:;]/.test(text[nameStart - 2] ?? '');
  if (isPart) return undefined;
  const name = text.slice(nameStart, nameEnd);
  const strength = readName(name);
  if (strength === undefined) return undefined;
  for (const [shape, separator] of SEPARATORS) {
    const found = matchAt(separator, text, nameEnd);
    if (found === undefined) continue;
    const value = readValue(text, nameEnd + found.length, name, strength, shape);
    if (value !== undefined || shape === 'argument') return value;
    break;
  }
  return readBehindName(text, nameStart, nameEnd, strength);
}

function readBehindName(
  text: string,
  nameStart: number,
  nameEnd: number,
  strength: NameStrength,
): Assignment | undefined {
  const isTag = text[nameStart - 1] === '<';
  const isFlag = text[nameStart] === '-' || BEFORE_VALUE.test(text.slice(Math.max(0, nameStart - 12), nameStart));
  const after = isTag ? matchAt(AFTER_TAG, text, nameEnd) : isFlag ? matchAt(AFTER_FLAG, text, nameEnd) : undefined;
  if (after !== undefined) return readValue(text, nameEnd + after.length, '', strength, isTag ? 'quoted' : undefined);
  if (strength === 'password') {
    const quoted = matchAt(BEFORE_QUOTE, text, nameEnd);
    const prose = matchAt(PROSE, text, nameEnd);
    const value =
      quoted !== undefined
        ? readValue(text, nameEnd + quoted.length, '', strength, undefined)
        : prose !== undefined
          ? readProse(text, nameEnd + prose.length)
          : undefined;
    if (value !== undefined) return value;
  }
  const loose = matchAt(LOOSE, text, nameEnd);
  if (loose === undefined || nameEnd - nameStart > LONGEST_LOOSE) return undefined;
  // Within base64 any name may stand; as a part of an address it is one by itself.
  const before = text.charCodeAt(nameStart - 1);
  if (before === PLUS || (before === SLASH) !== (loose === '/')) return undefined;
  if (before === SLASH && !/[:.?]/.test(text.slice(Math.max(0, nameStart - ADDRESS), nameStart))) return undefined;
  if (isSurelyRandom(text.slice(nameStart, nameEnd), 10)) return undefined;
  const start = nameEnd + loose.length;
  return judge(text, start, matchAt(LOOSE_VALUE, text, start), strength, 'loose');
}

/** A sentence ends in punctuation that is none of the password's. */
function readProse(text: string, start: number): Assignment | undefined {
  const value = matchAt(/[^\s"'`<>\\，。；、（）「」”»]{6,64}/y, text, start)?.replace(/[.,;:)\]]{1,3}$/, '');
  const isQuoted =
    value !== undefined && /["'`]/.test(text[start - 1] ?? '') && text[start - 1] === text[start + value.length];
  return (
    judge(text, start, value, 'password', 'prose') ??
    (isQuoted ? judge(text, start, value, 'password', 'account') : undefined)
  );
}

function readValue(
  text: string,
  from: number,
  name: string,
  strength: NameStrength,
  given: Shape | undefined,
): Assignment | undefined {
  const opening = matchOpening(text, from);
  let start = from + (opening?.[0].length ?? 0);
  start += matchAt(SCHEME, text, start)?.length ?? 0;
  const quote = opening?.[2];
  if (quote !== undefined) {
    const end = closeQuote(text, start, quote, opening?.[1]?.length ?? 0);
    if (end !== undefined) {
      const value = text.slice(start, end);
      const blanks = value.length - value.trimStart().length;
      const found = judge(text, start + blanks, value.trimEnd().slice(blanks), strength, given ?? 'quoted');
      if (found !== undefined || strength !== 'password' || given !== undefined) return found;
      const isOfAccount = ACCOUNT.test(text.slice(Math.max(0, from - ACCOUNT_BEFORE), from));
      return isOfAccount ? judge(text, start, value, strength, 'account') : undefined;
    }
  }
  const isVariable = VARIABLE.test(name) && text[from - 1] === '=';
  const value = matchAt(isVariable ? BARE_VARIABLE : BARE, text, start);
  if (value === undefined) return undefined;
  const next = text[start + value.length];
  if ((next === '(' || next === '[') && /^[A-Za-z_$][\w$.]*$/.test(value)) return undefined;
  return judge(text, start, value, strength, given ?? (isVariable ? 'variable' : 'bare'));
}

function judge(
  text: string,
  start: number,
  value: string | undefined,
  strength: NameStrength,
  shape: Shape,
): Assignment | undefined {
  if (value === undefined || !isSecretInText(value.slice(0, SAMPLE), strength, shape)) return undefined;
  // A password may look like anything.
  const isDeclared = text[start + value.length] === ';' && text.startsWith(': ', start - 2);
  if (isDeclared && strength !== 'password' && NUMBERED_TYPE.test(value)) return undefined;
  return text.startsWith(value, start) ? { start, end: start + value.length } : undefined;
}

/** The quote that has as many backslashes as the opening one; more of them belong to a quote inside the value. */
function closeQuote(text: string, start: number, quote: string, depth: number): number | undefined {
  const limit = Math.min(text.length, start + VALUE_LIMIT);
  for (let index = start; index < limit; index++) {
    if (text.charCodeAt(index) === NEWLINE) return undefined;
    if (text[index] !== quote) continue;
    let backslashes = 0;
    while (index - backslashes > start && text.charCodeAt(index - backslashes - 1) === BACKSLASH) backslashes++;
    if (backslashes <= depth) return index - backslashes;
    if (depth === 0 && backslashes % 2 === 0) return index;
  }
  return undefined;
}

function startOfName(text: string, from: number): number {
  let start = from;
  while (start > 0 && from - start < NAME_LIMIT && isNameCode(text.charCodeAt(start - 1))) start--;
  // `\nPASSWORD=…` in escaped text: the n belongs to the line break.
  const escaped = start > 0 && text.charCodeAt(start - 1) === BACKSLASH && 'nrt'.includes(text.charAt(start));
  return escaped && start < from ? start + 1 : start;
}

function endOfName(text: string, from: number): number {
  let end = from;
  while (end < text.length && end - from < NAME_LIMIT && isNameCode(text.charCodeAt(end))) end++;
  return end;
}

function isNameCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 45 && code <= 57 && code !== 47) ||
    code === 95 ||
    (code >= 0xc0 && code < 0x250)
  );
}

/** Quotes, blanks, signs: anything that a separator may begin with. Most names in a text are followed by something else. */
const isBeforeValue = (code: number) => BEFORE_VALUES.has(code);
const BEFORE_VALUES = new Set([...' \t\r\n"\'`\\:=?+.!|<>-)](~/–—,：＝是为為は'].map((letter) => letter.charCodeAt(0)));

function matchOpening(text: string, index: number): RegExpExecArray | undefined {
  OPENING.lastIndex = index;
  return OPENING.exec(text) ?? undefined;
}

function matchAt(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}

const LONGEST_LOOSE = 40;
/** Letters in which an address before a name has a colon or a dot. */
const ADDRESS = 80;
const NEWLINE = 10;
const PLUS = 43;
const SLASH = 47;
const BACKSLASH = 92;
