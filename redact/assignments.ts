import type { createNameReader, NameStrength } from './names.ts';
import { type Name, SEPARATORS, type Separator } from './separators.ts';
import { BEFORE_CELLS, type Place, type TableReader } from './tables.ts';
import { endOfToken, isSecretInText, isSurelyRandom, type Shape } from './values.ts';

/** Words that occur in the names of secrets. `assignments.ts` examines the text around each of them. */
export const NAME_KEYWORDS =
  'pass,pwd,psw,pssw,pasw,pw:,pw=,pw ,secret,token,key,auth,credential,bearer,conn,_pat,pat=,_api,kennwort,contrase,senha,wachtwoord,jwt,csrf,psk,senord,adgangskode,salasana,heslo,jelsz,sandi,parola'.split(
    ',',
  );

export const KEY_NAME = 'key-name';

/** The most letters of a name. */
const NAME_LIMIT = 64;
const NAME = new RegExp(String.raw`[\w.\u00c0-\u024f-]{0,${NAME_LIMIT}}`, 'y');
/** `\nPASSWORD=…` in escaped text: the n belongs to the line break. */
const BEFORE_NAME = new RegExp(String.raw`(?<=((?!(?<=\\)[nrt])[\w.\u00c0-\u024f-]{0,${NAME_LIMIT}}))`, 'y');
const VALUE_LIMIT = 2048;
/** A long value is classified by this many letters. */
const SAMPLE = 100;

/** The name of a user or an address. A plain word beside it is a password. */
const ACCOUNT =
  /(?:user|username|user_name|login|uid|host|hostname|server|database|db|dbname)\\{0,3}["']?[ \t]{0,3}(?:={1,3}>?|:)[ \t]{0,3}\\{0,3}["'][^"'\\\s]{2,60}\\{0,3}["']/i;
const ACCOUNT_BEFORE = 160;
const SCHEME = /(?:bearer|basic|token|bot|ssws|apikey|digest|ntlm|negotiate)[ \t]{1,4}/iy;
const OPENING = /(\\{0,7})(["'`])/y;
/** Not the name of another assignment: `auth=token=…` is read at the last one. */
const BARE_LETTER = String.raw`\[[A-Z]EDACTED:[\w-]{1,40}:[0-9a-f]{4}\]|[^\s"'\x60\\,;&<>|{}()[\]，。；、（）「」”»]`;
const NO_ASSIGNMENT = String.raw`(?![A-Za-z_]{1,24}\d?=[^=\s"'])`;
/** The first letters of a value decide whether it is a secret. Only then is the rest read. */
const BARE = new RegExp(`${NO_ASSIGNMENT}(?:${BARE_LETTER}){1,${SAMPLE}}`, 'y');
/** A sealed secret and a refresh token of Entra have two thousand letters. */
const MAX_BARE = 6000;
const BARE_REST = new RegExp(`(?:${BARE_LETTER}){0,${MAX_BARE}}`, 'y');
const BARE_VARIABLE = new RegExp(String.raw`${NO_ASSIGNMENT}[^\s"'\x60\\]{0,${SAMPLE - 1}}[^\s"'\x60\\;,]`, 'y');
const BARE_VARIABLE_REST = new RegExp(String.raw`(?:[^\s"'\x60\\]{0,${MAX_BARE - 1}}[^\s"'\x60\\;,])?`, 'y');
/** The rest of a longer value in quotes. Like the rest of a token, it is read to its end once. */
const ENDLESS_QUOTED = /[^"'`\\\r\n]*/y;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

type ReadName = ReturnType<typeof createNameReader>;

/**
 * Reads `KEY=VALUE`, `"key": "value"`, `Header: value`, `--key value`, `<key>value</key>` and every other form with a value
 * after a name. Returns the place of the value if it is a secret.
 */
export function createAssignmentReader(readName: ReadName, tables: TableReader, separators = SEPARATORS) {
  const byLetter = groupByLetter(separators);
  let last = { text: '', keyword: 0, end: 0 };

  /** `keywordEnd` is given if the keyword is already a whole name. */
  return (text: string, keywordStart: number, keywordEnd?: number): readonly Place[] => {
    // A name may contain several keywords, and so may a value that is masked as a whole: `client_secret_key=…`.
    if (keywordStart > last.keyword && keywordStart < last.end && text === last.text) return NONE;
    const end = keywordEnd ?? keywordStart + (matchAt(NAME, text, keywordStart)?.length ?? 0);
    const following = byLetter.get(text.charCodeAt(end));
    const mayHaveValue =
      following !== undefined || text.slice(Math.max(0, keywordStart - 48), keywordStart).includes(' as ');
    const values = mayHaveValue ? readAround(text, keywordStart, end, readName, tables, following ?? []) : NONE;
    last = { text, keyword: keywordStart, end: values[0]?.end ?? end };
    return values;
  };
}

const NONE: readonly Place[] = [];

/** Groups the separators by the letter that follows a name. */
function groupByLetter(separators: readonly Separator[]): ReadonlyMap<number, readonly Separator[]> {
  const letters = new Set([...separators.map(({ begins }) => begins), BEFORE_CELLS].join(''));
  return new Map(
    [...letters].map((letter) => [letter.charCodeAt(0), separators.filter(({ begins }) => begins.includes(letter))]),
  );
}

function readAround(
  text: string,
  keyword: number,
  end: number,
  readName: ReadName,
  tables: TableReader,
  separators: readonly Separator[],
): readonly Place[] {
  BEFORE_NAME.lastIndex = keyword;
  const start = keyword - (BEFORE_NAME.exec(text)?.[1]?.length ?? 0);
  if (text[end - 1] === '-') return NONE;
  // `AWS::KMS::Key`, `arn:aws:secretsmanager:…:secret:…`: a part of a longer name.
  const isPart = text[start - 1] === ':' && !isAssigned(text, end) && /[\w*:;]/.test(text[start - 2] ?? '');
  const strength = isPart ? undefined : readName(text.slice(start, end));
  if (strength === undefined) return NONE;
  const name = { start, end, strength: strengthHere(text, start, end, strength) };
  for (const { pattern, fits, shape, reads = 'value' } of separators) {
    if (fits !== undefined && !fits(text, name)) continue;
    const found = matchAt(pattern, text, end);
    if (found === undefined) continue;
    const from = end + found.length;
    const value = READERS[reads](text, from, name, shape);
    const changed = readChanged(text, value?.end ?? from, value !== undefined, name);
    if (value !== undefined || changed !== undefined) return [value, changed].filter((each) => each !== undefined);
  }
  const isHeader = name.strength === 'password' || name.strength === 'strong';
  return [...(isHeader ? tables.find(text, start, end) : NONE), ...readBefore(text, name)];
}

/** `"old" -> "new"`: a future value in a plan of Terraform. */
function readChanged(text: string, from: number, isBehindValue: boolean, name: Name): Place | undefined {
  const arrow = matchAt(isBehindValue ? ARROW : UNTIL_ARROW, text, from);
  return arrow === undefined ? undefined : readValue(text, from + arrow.length, name, undefined);
}
const ARROW = /\\{0,7}["'`]?[ \t]{0,4}(?:->|=>|→)[ \t]{0,4}(?=\\{0,7}["'`])/y;
const UNTIL_ARROW =
  /(?:null|\(sensitive value\)|\\{0,7}"[^"\\\n]{0,80}\\{0,7}")[ \t]{0,4}->[ \t]{0,4}(?=\\{0,7}["'`])/y;

/** `use … as the password`, `assertEquals("…", config.getPassword())`, `"…".equals(password)`. */
function readBefore(text: string, { start, strength }: Name): readonly Place[] {
  if (strength !== 'password' && strength !== 'strong') return NONE;
  const from = Math.max(0, start - 120);
  const found =
    (strength === 'password' ? USED_AS : COMPARED).exec(text.slice(from, start)) ??
    COMPARED.exec(text.slice(from, start));
  const [before = '', value = ''] = found?.slice(1) ?? [];
  const at = from + (found?.index ?? 0) + before.length;
  return judge(text, at, value, strength, 'column') === undefined ? NONE : [{ start: at, end: at + value.length }];
}
const USED_AS =
  /(\b(?:use|set|try|enter|type) ["'`]?)([^\s"'`]{6,64})["'`]? as (?:(?:the|your|my|our|its|a) )?(?:[\w-]{1,20} ){0,2}$/i;
const COMPARED =
  /((?:\b\w{0,20}(?:equals?|eq|same|strcmp|compare)\([ \t]{0,2})?["'`])([^\s"'`]{6,64})["'`](?:(?<=\(.{2,90}),[ \t]{0,4}|\.equals(?:IgnoreCase)?\(|[ \t]{1,2}[!=]={1,2}[ \t]{1,2})$/i;

/** The text before a name may tell more about it than the name itself. */
function strengthHere(text: string, start: number, end: number, strength: NameStrength): NameStrength {
  if (isOfUser(text, start, end)) return 'password';
  return strength === 'key' && isOfApi(text, start, end) ? 'vendor' : strength;
}

/**
 * `a request to the API … key=…`: the key of an API may be a UUID or a hash, but the key of a cache with that form is not a
 * secret. A UUID in a quoted attribute or member is not a secret either. In an address of an API, the words of the path do
 * not count.
 */
function isOfApi(text: string, start: number, end: number): boolean {
  if (!KEY.test(text.slice(start, end))) return false;
  const before = text.slice(Math.max(0, start - API_LETTERS), start);
  if (API_ADDRESS.test(before)) return true;
  return API.test(before) && !LOOKUP.test(before) && matchAt(QUOTED_UUID, text, end) === undefined;
}
const KEY = /^key$/i;
const API_LETTERS = 100;
const API_ADDRESS = /:\/\/api\.[^\s"'`<>]{1,90}[?&]$/;
const QUOTED_UUID =
  /(?:\\{0,7}["'])?[ \t]{0,8}[:=][ \t]{0,8}\\{0,7}["'][\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\\{0,7}["']/iy;
const API = /\bAPI\b|:\/\/api\./;
const LOOKUP = /\b(?:cach|hash|item|row|record|object)/i;

/** `id: robin, pass: …`: by itself, `pass` may be the name of anything. */
const isOfUser = (text: string, start: number, end: number) =>
  PASS.test(text.slice(start, end)) && USER_BEFORE.test(text.slice(Math.max(0, start - USER_LETTERS), start));
const PASS = /^(?:[A-Za-z]{1,20}_)?pass$/i;
const USER_LETTERS = 80;
const USER_BEFORE =
  /(?:^|[\s_,;({-])(?:id|user|username|login|account|name)["']?(?: ?as)?[ \t]?[:=][ \t]?["']?[\w.@+-]{2,50}["']?[ \t,;/&]{1,3}["']?$/i;

/** `$env:NAME = …`, `${env:NAME} = …`: the form of PowerShell. */
const isAssigned = (text: string, end: number) => matchAt(ASSIGNED, text, end) !== undefined;
const ASSIGNED = /\}?[ \t]{0,8}=(?!=)/y;

function readLoose(text: string, valueStart: number, { start, end, strength }: Name): Place | undefined {
  // Within base64, any name may occur. As a part of an address, it is a word by itself.
  const [before, separator] = [text[start - 1], text.slice(end, valueStart)];
  if (end - start > MAX_LOOSE || before === '+' || (before === '/') !== (separator === '/')) return undefined;
  if (before === '/' && !/[:.?]/.test(text.slice(Math.max(0, start - ADDRESS), start))) return undefined;
  if (isSurelyRandom(text.slice(start, end), 10)) return undefined;
  const found = judge(text, valueStart, matchAt(LOOSE_VALUE, text, valueStart), strength, 'loose');
  if (found !== undefined) found.end = endOfToken(text, found.end);
  return found;
}
const LOOSE_VALUE = /[\w+/=.~:-]{16,512}/y;
const MAX_LOOSE = 40;
/** How many letters before a name are searched for the colon or dot of an address. */
const ADDRESS = 80;

/** A sentence ends in punctuation that does not belong to the password. */
function readSentence(text: string, start: number): Place | undefined {
  const value = trimSentence(text, start);
  const quote = text[start - 1] ?? '';
  const isQuoted = value !== undefined && /["'`]/.test(quote) && quote === text[start + value.length];
  return (
    judge(text, start, value, 'password', 'prose') ??
    (isQuoted ? judge(text, start, value, 'password', 'account') : undefined)
  );
}
const trimSentence = (text: string, start: number) => matchAt(SAID, text, start)?.replace(/[.,;:)\]]{1,3}$/, '');
const SAID = /[^\s"'`<>\\，。；、（）「」”»]{6,64}/y;

const readFar = (text: string, start: number) => judge(text, start, trimSentence(text, start), 'password', 'column');

const READERS: {
  [reads in NonNullable<Separator['reads']>]: (
    text: string,
    from: number,
    name: Name,
    shape: Shape | undefined,
  ) => Place | undefined;
} = { value: readValue, sentence: readSentence, far: readFar, loose: readLoose };

function readValue(text: string, from: number, name: Name, given: Shape | undefined): Place | undefined {
  OPENING.lastIndex = from;
  const [opening = '', backslashes = '', quote] = OPENING.exec(text) ?? [];
  let start = from + opening.length;
  start += matchAt(SCHEME, text, start)?.length ?? 0;
  const end = quote === undefined ? undefined : closeQuote(text, start, quote, backslashes.length);
  if (end !== undefined) {
    const value = text.slice(start, end);
    const trimmed = value.trim();
    const found = judge(text, start + value.indexOf(trimmed), trimmed, name.strength, given ?? 'quoted');
    if (found !== undefined || name.strength !== 'password' || given !== undefined) return found;
    const isOfAccount = ACCOUNT.test(text.slice(Math.max(0, from - ACCOUNT_BEFORE), from));
    return isOfAccount ? judge(text, start, value, name.strength, 'account') : undefined;
  }
  const isVariable = text[from - 1] === '=' && VARIABLE.test(text.slice(name.start, name.end));
  const head = matchAt(isVariable ? BARE_VARIABLE : BARE, text, start);
  if (head === undefined || (head.endsWith('=') && /["']/.test(text[start + head.length] ?? ''))) return undefined;
  const found = judge(text, start, head, name.strength, given ?? (isVariable ? 'variable' : 'bare'));
  if (found === undefined) return undefined;
  const rest = matchAt(isVariable ? BARE_VARIABLE_REST : BARE_REST, text, found.end)?.length ?? 0;
  found.end += rest;
  const isCall = text[found.end] === '(' || text[found.end] === '[';
  const isCode = isCall ? CALLED : text[found.end] === ';' ? VARIABLE_OF_C : undefined;
  if (isCode?.test(text.slice(start, found.end))) return undefined;
  // The rest of a variable ends before a separator, so it may be shorter than the limit although it was cut.
  const isCut = rest > MAX_BARE - SAMPLE;
  if (isCut && quote === undefined) found.end = endOfToken(text, found.end);
  else if (isCut) found.end += matchAt(ENDLESS_QUOTED, text, found.end)?.length ?? 0;
  return found;
}

const CALLED = /^[A-Za-z_$][\w$.:]*$/;
/** `= libtest_arg4;` */
const VARIABLE_OF_C = /^[a-z]+(?:_[a-z]+)+\d?$/;

function judge(
  text: string,
  start: number,
  value: string | undefined,
  strength: NameStrength,
  shape: Shape,
): Place | undefined {
  if (value === undefined || !isSecretInText(value.slice(0, SAMPLE), strength, shape)) return undefined;
  return text.startsWith(value, start) ? { start, end: start + value.length } : undefined;
}

/** The quote with as many backslashes as the opening one. A quote with more belongs to a quote inside the value. */
function closeQuote(text: string, start: number, quote: string, depth: number): number | undefined {
  for (const { 0: found, index } of text.slice(start, start + VALUE_LIMIT).matchAll(QUOTE_OR_END)) {
    if (found.endsWith('\n')) return undefined;
    if (!found.endsWith(quote)) continue;
    const backslashes = found.length - 1;
    if (backslashes <= depth) return start + index;
    if (depth === 0 && backslashes % 2 === 0) return start + index + backslashes;
  }
  return undefined;
}
const QUOTE_OR_END = /(?<!\\)\\*["'`\n]/g;

function matchAt(pattern: RegExp, text: string, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
}
