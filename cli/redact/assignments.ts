import { createNameReader, type NameStrength } from './names.ts';
import { findColumn, findInserted } from './tables.ts';
import { isSecretInText, isSurelyRandom, type Shape } from './values.ts';

/** What a name of a secret has in it. `assignments.ts` looks at what stands around each of them. */
export const NAME_KEYWORDS =
  'pass,pwd,psw,pw:,pw=,pw ,secret,token,key,auth,credential,bearer,conn,_pat,pat=,kennwort,contrase,senha,wachtwoord,jwt,csrf,psk,senord,adgangskode,salasana,heslo,jelsz,sandi'.split(
    ',',
  );

export const KEY_NAME = 'key-name';

/** Letters of a name. */
const NAME_LIMIT = 64;
const NAME = new RegExp(String.raw`[\w.\u00c0-\u024f-]{0,${NAME_LIMIT}}`, 'y');
/** `\nPASSWORD=…` in escaped text: the n belongs to the line break. */
const BEFORE_NAME = new RegExp(String.raw`(?<=((?!(?<=\\)[nrt])[\w.\u00c0-\u024f-]{0,${NAME_LIMIT}}))`, 'y');
const VALUE_LIMIT = 2048;
/** Letters of a long value that tell what it is. */
const SAMPLE = 100;

/** A name of a secret in a text. */
interface Name {
  start: number;
  end: number;
  strength: NameStrength;
}

/** How a value can stand behind its name. */
interface Form {
  separator: RegExp;
  /** Whether a name can be followed by a value of this form. */
  fits?: (text: string, name: Name) => boolean;
  /** Of quoted and bare values alike; without one they are looked at as what they are. */
  shape?: Shape;
  read?: (text: string, start: number, name: Name) => Assignment | undefined;
}

const QUOTED_NAME = String.raw`(?:\\{0,7}["'\x60])?`;
/** What may stand between a name and its value, the surest first. */
const FORMS: readonly Form[] = [
  // `name: string = "…"`, `var name string = "…"`, `name: |` with the value on the next line.
  {
    separator:
      /\??[ \t]{0,2}:[ \t]{0,2}&?[A-Za-z_][\w.]{0,20}(?:[<[][\w<>[\], ]{0,20}[>\]])?(?: ?\| ?\w{1,12})?[ \t]{1,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y,
  },
  { separator: /[ \t]{1,8}(?:string|str|&str)[ \t]{0,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y },
  { separator: /:[ \t]{0,3}[|>][+-]?[ \t]{0,3}(?:\r?\n|\\{1,7}n)[ \t]{1,24}/y, shape: 'bare' },
  {
    separator: new RegExp(
      String.raw`${QUOTED_NAME}[\])}]{0,2}[ \t]{0,40}(?::{2,3}=|:-|[:?+.!|]?[=＝]{1,3}>?|[:：](?!:)|->|<-|\|\||(?:\?[?:]|or)(?=\x20["']))[ \t]{0,40}(?:[\[(][\s]{0,8}(?=\\{0,7}["'\x60]))?(?:[@$A-Za-z]{1,2}(?=["']))?`,
      'y',
    ),
  },
  // `name: API_KEY`, on the next line `value: …`: how containers list their environment; and `key="…" value="…"`.
  {
    separator:
      /<\/key>\s{0,24}<(?:value|string)>|(?:\\{0,7}["'],?(?:\r?\n|\\{1,7}n|[ \t]){0,40}|,?(?:\r?\n|\\{1,7}n|[ \t]){1,40})(?:\\{0,7}["'])?value(?:\\{0,7}["'])?[ \t]?[:=][ \t]{0,4}/iy,
  },
  // `variable "name" { … default = "…"`.
  { separator: /\\{0,7}"[ \t]{0,2}\{[^{}]{0,160}?default[ \t]{0,20}=[ \t]{0,4}/y },
  // `setenv("NAME", "…")`.
  {
    separator: /(?:(?:(?:\\{0,7}["'])?\])?\\{0,7}["'`]|(?<=[A-Z]{3}))[ \t]{0,2},[ \t\r\n]{0,10}(?=\\{0,7}["'`])/y,
    shape: 'argument',
  },
  {
    separator: />\s{0,20}/y,
    fits: (text, { start }) => text[start - 1] === '<',
    shape: 'quoted',
  },
  { separator: /[ \t]{1,4}/y, fits: isFlag },
  // `vault read`, `column -t`, `psql -x`: names and values in columns.
  {
    separator:
      /(?:[ \t]{2,60}|\t)(?:(?:string|text|password|secret|sensitive)[ \t]{1,40})?|[ \t]{0,40}[|│][ \t]{1,40}/y,
    fits: (_text, { strength }) => strength === 'password' || strength === 'strong',
    shape: 'column',
  },
  // `PASSWORD '…'`, as SQL has it.
  { separator: /[ \t]{1,4}(?=["'])/y, fits: isPassword },
  // `password for ada: …`, `the password is …`; and `user ada and password …`, where the value has to have a digit.
  {
    separator:
      /(?:(?: is generated)?(?: (?:for|of|to|für|von|pour|de|para|для|от) [^\s:=]{1,40}| [([][a-z ]{2,20}[)\]])?(?: ?: {1,3}| ?(?:是|为|為|は|：) {0,3}(?=[!-~「“])| (?:is|was|ist|lautet|est|es|é|è|er|är|это|set to|to|geändert auf|auf|→|->|–|—|-)(?: now)?:? {1,3}|(?<=[\u0370-\u1fff]) )|(?<=(?:\b(?:and|with|und|mit|et|y)(?: the| dem)?|,) [A-Za-z]{4,12}) (?=["'`]?[^\s/]{0,64}[A-Z\d][^\s/]{0,64}\d[^\s/]{0,64}(?:\s|$)))["'`「“«]?/y,
    fits: isPassword,
    read: readProse,
  },
  // `the password of the new server is …`: the further away, the surer has the value to be one.
  {
    separator:
      /(?: (?:for|of|to|on|für|von|pour|de|du|del|da|do|para|для|от)(?: [^\s:=]{1,40}){1,4})(?: ?: {1,3}| (?:is|was|ist|lautet|est|es|é|è|er|är|это|set to)(?: now)?:? {1,3})["'`「“«]?/y,
    fits: isPassword,
    read: (text, start) => judge(text, start, trimSentence(text, start), 'password', 'column'),
  },
  // `use the following password to go on:`, and on a line of its own the password.
  {
    separator:
      /[^\n\r:.]{0,60}:[ \t]{0,4}(?:(?:\r?\n|\\{1,7}n)[ \t]{0,16}){1,3}(?=[^\s"'`\\]{6,64}[ \t]*(?:[\r\n]|\\{1,7}[nr]|$))/y,
    fits: isPassword,
    read: (text, start) => judge(text, start, trimSentence(text, start), 'password', 'column'),
  },
  // `token - '…'`, `secret …`, and a value on the next line or as the next part of an address.
  {
    separator:
      /(?:(?=[ \t"'`([{:,-])["'`]?[ \t]{0,4}(?:(?:[-–—:=>|~,]{1,3}|is|was)[ \t]{1,4}|\|)?["'`([{]{0,3}|[ \t:]{0,4}(?:\r?\n|\\{1,7}n)[ \t>|-]{0,24}["'`]?|\/)(?=[\w+/=.~-]{16})/y,
    read: readLoose,
  },
];
/** A user, or where to connect to, said to be this: a plain word beside it is a password. */
const ACCOUNT =
  /(?:user|username|user_name|login|uid|host|hostname|server|database|db|dbname)\\{0,3}["']?[ \t]{0,3}(?:={1,3}>?|:)[ \t]{0,3}\\{0,3}["'][^"'\\\s]{2,60}\\{0,3}["']/i;
const ACCOUNT_BEFORE = 160;
const SCHEME = /(?:bearer|basic|token|bot|ssws|apikey|digest|ntlm|negotiate)[ \t]{1,4}/iy;
const OPENING = /(\\{0,7})(["'`])/y;
/** Not the name of another assignment: `auth=token=…` is read at the last of them. */
const BARE =
  /(?![A-Za-z_]{1,24}\d?=[^=\s"'])(?:\[[A-Z]EDACTED:[\w-]{1,40}:[0-9a-f]{4}\]|[^\s"'`\\,;&<>|{}()[\]，。；、（）「」”»]){1,800}/y;
const BARE_VARIABLE = /(?![A-Za-z_]{1,24}\d?=[^=\s"'])[^\s"'`\\]{0,799}[^\s"'`\\;,]/y;
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
  const readCells = createCellReader();

  /** `keywordEnd` is given where the keyword is a name already. */
  return (text: string, keywordStart: number, keywordEnd?: number): readonly Assignment[] => {
    // A name has several keywords in it, and so may a value that is masked as a whole: `client_secret_key=…`.
    if (keywordStart > last.keyword && keywordStart < last.end && text === last.text) return NONE;
    const end = keywordEnd ?? keywordStart + (matchAt(NAME, text, keywordStart)?.length ?? 0);
    const mayHaveValue =
      BEFORE_VALUES.has(text.charCodeAt(end)) ||
      text.slice(Math.max(0, keywordStart - 48), keywordStart).includes(' as ');
    const values = mayHaveValue ? readAround(text, keywordStart, end, readName, readCells) : NONE;
    last = { text, keyword: keywordStart, end: values[0]?.end ?? end };
    return values;
  };
}

const NONE: readonly Assignment[] = [];

/** Quotes, blanks, signs: anything that a separator may begin with. Most names in a text are followed by something else. */
const BEFORE_VALUES = new Set(
  [...' \t\r\n"\'`\\:;│=?+.!|<>-)]}(~/–—,：＝是为為は'].map((letter) => letter.charCodeAt(0)),
);

function readAround(
  text: string,
  keyword: number,
  end: number,
  readName: ReturnType<typeof createNameReader>,
  readCells: ReturnType<typeof createCellReader>,
): readonly Assignment[] {
  BEFORE_NAME.lastIndex = keyword;
  const start = keyword - (BEFORE_NAME.exec(text)?.[1]?.length ?? 0);
  if (text[end - 1] === '-') return NONE;
  // `AWS::KMS::Key`, `arn:aws:secretsmanager:…:secret:…`: a part of a longer name.
  const isPart = text[start - 1] === ':' && !isAssigned(text, end) && /[\w*:;]/.test(text[start - 2] ?? '');
  const strength = isPart ? undefined : readName(text.slice(start, end));
  if (strength === undefined) return NONE;
  const name = { start, end, strength };
  for (const { separator, fits, shape, read } of FORMS) {
    if (fits !== undefined && !fits(text, name)) continue;
    const found = matchAt(separator, text, end);
    if (found === undefined) continue;
    const from = end + found.length;
    const value = read === undefined ? readValue(text, from, name, shape) : read(text, from, name);
    const changed = readChanged(text, value?.end ?? from, value !== undefined, name);
    if (value !== undefined || changed !== undefined) return [value, changed].filter((each) => each !== undefined);
  }
  return [...readCells(text, name), ...readBefore(text, name)];
}

/** `"old" -> "new"`: what a plan of Terraform says a value will be. */
function readChanged(text: string, from: number, isBehindValue: boolean, name: Name): Assignment | undefined {
  const arrow = matchAt(isBehindValue ? ARROW : UNTIL_ARROW, text, from);
  return arrow === undefined ? undefined : readValue(text, from + arrow.length, name, undefined);
}
const ARROW = /\\{0,7}["'`]?[ \t]{0,4}(?:->|=>|→)[ \t]{0,4}(?=\\{0,7}["'`])/y;
const UNTIL_ARROW =
  /(?:null|\(sensitive value\)|\\{0,7}"[^"\\\n]{0,80}\\{0,7}")[ \t]{0,4}->[ \t]{0,4}(?=\\{0,7}["'`])/y;

/** The values of a column that is called so. What was read as rows is no header of others. */
function createCellReader() {
  let rows = { text: '', start: 0, end: 0 };
  return (text: string, { start, end, strength }: Name): readonly Assignment[] => {
    if (strength !== 'password' && strength !== 'strong') return NONE;
    if (start >= rows.start && start < rows.end && text === rows.text) return NONE;
    if (matchAt(END_OF_CELL, text, end) === undefined) return NONE;
    const column = findColumn(text, start, end);
    // From the end of the header's line on: its other names are read, and the names in the rows are not.
    if (column.length > 0) rows = { text, start: text.indexOf('\n', end), end: column.at(-1)?.end ?? end };
    return [...column, ...findInserted(text, start, end)].flatMap((cell) => {
      const value = text.slice(cell.start, cell.end);
      return judge(text, cell.start, value, strength, cell.isQuoted ? 'quoted' : 'column') ?? [];
    });
  };
}
const END_OF_CELL = /["'`\]]?[ \t]{0,60}(?:[|│\t,;)]|\r?\n)/y;

/** `use … as the password`. */
function readBefore(text: string, { start, strength }: Name): readonly Assignment[] {
  if (strength !== 'password') return NONE;
  const found = USED_AS.exec(text.slice(Math.max(0, start - 120), start));
  const [before = '', value = ''] = found?.slice(1) ?? [];
  const at = Math.max(0, start - 120) + (found?.index ?? 0) + before.length;
  return judge(text, at, value, strength, 'column') === undefined ? NONE : [{ start: at, end: at + value.length }];
}
const USED_AS =
  /(\b(?:use|set|try|enter|type) ["'`]?)([^\s"'`]{6,64})["'`]? as (?:(?:the|your|my|our|its|a) )?(?:[\w-]{1,20} ){0,2}$/i;

/** `$env:NAME = …`, `${env:NAME} = …`, as PowerShell has it. */
const isAssigned = (text: string, end: number) => matchAt(ASSIGNED, text, end) !== undefined;
const ASSIGNED = /\}?[ \t]{0,8}=(?!=)/y;

function isPassword(_text: string, { strength }: Name): boolean {
  return strength === 'password';
}

function isFlag(text: string, { start }: Name): boolean {
  return text[start] === '-' || BEFORE_FLAG.test(text.slice(Math.max(0, start - 48), start));
}
const BEFORE_FLAG =
  /(?:(?:^|[\s"'`(\\nt])(?:set|setx|env|define|const|arg|export)[ \t]{1,4}(?:--?[a-z]{1,12}[ \t]{1,4}){0,4}|[\s"'`]--?)$/i;

function readLoose(text: string, valueStart: number, { start, end, strength }: Name): Assignment | undefined {
  // Within base64 any name may stand; as a part of an address it is one by itself.
  const [before, separator] = [text[start - 1], text.slice(end, valueStart)];
  if (end - start > LONGEST_LOOSE || before === '+' || (before === '/') !== (separator === '/')) return undefined;
  if (before === '/' && !/[:.?]/.test(text.slice(Math.max(0, start - ADDRESS), start))) return undefined;
  if (isSurelyRandom(text.slice(start, end), 10)) return undefined;
  return judge(text, valueStart, matchAt(LOOSE_VALUE, text, valueStart), strength, 'loose');
}
const LOOSE_VALUE = /[\w+/=.~:-]{16,512}/y;
const LONGEST_LOOSE = 40;
/** Letters in which an address before a name has a colon or a dot. */
const ADDRESS = 80;

/** A sentence ends in punctuation that is none of the password's. */
function readProse(text: string, start: number): Assignment | undefined {
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

function readValue(text: string, from: number, name: Name, given: Shape | undefined): Assignment | undefined {
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
  const value = matchAt(isVariable ? BARE_VARIABLE : BARE, text, start);
  if (value === undefined) return undefined;
  const next = text[start + value.length];
  if ((next === '(' || next === '[') && /^[A-Za-z_$][\w$.]*$/.test(value)) return undefined;
  return judge(text, start, value, name.strength, given ?? (isVariable ? 'variable' : 'bare'));
}

function judge(
  text: string,
  start: number,
  value: string | undefined,
  strength: NameStrength,
  shape: Shape,
): Assignment | undefined {
  if (value === undefined || !isSecretInText(value.slice(0, SAMPLE), strength, shape)) return undefined;
  return text.startsWith(value, start) ? { start, end: start + value.length } : undefined;
}

/** The quote that has as many backslashes as the opening one; more of them belong to a quote inside the value. */
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
