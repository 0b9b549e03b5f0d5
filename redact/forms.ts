import { HASHED_LETTERS } from './rolling-hash.ts';

/** The forms of one secret in a transcript: plain, escaped, encoded. */
export function writeForms(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  const base64 = writeBase64Forms(bytes);
  const json = [secret, escapeJson(secret), escapeJson(escapeJson(secret)), escapeJson(escapeJson(escapeJson(secret)))];
  const forms = [
    ...json,
    ...longLines(secret),
    ...writeEscapes(secret).flatMap((form) => [form, escapeJson(form)]),
    ...writeUrlForms(secret),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    // Kubernetes' base64 may be encoded once more on its way.
    ...base64.flatMap((form) => writeBase64Forms(Buffer.from(form))),
    // PowerShell's -EncodedCommand
    ...writeBase64Forms(Buffer.from(secret, 'utf16le')),
  ];
  return [...new Set(forms)].filter((form) => form.length >= HASHED_LETTERS);
}

/** For a key that was quoted line by line (`cat -n`, a diff, a program), the letters of its lines. */
function longLines(secret: string): string[] {
  const lines = secret.replaceAll('\\n', '\n');
  return lines.includes('\n')
    ? (lines.match(/[^\s'"`\\]{24,}/g) ?? []).filter((line) => !line.startsWith('-----'))
    : [];
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The forms for a shell, a page, or a JSON reader that knows only ASCII. Programs differ in how they write quotes. */
function writeEscapes(text: string): string[] {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const bytes = [...Buffer.from(text)].map((byte) => byte.toString(16).padStart(2, '0'));
  const letters = [...text].map((letter) => letter.codePointAt(0) ?? 0);
  const unicode = toUnicode(text, /./gs);
  return [
    ...HTML_QUOTES.map(([double, single]) => html.replaceAll('"', double).replaceAll("'", single)),
    // Every letter is escaped, as a shell, an address or a page may have it.
    ...['\\x', '%'].flatMap((lead) =>
      [bytes, bytes.map((byte) => byte.toUpperCase())].map((each) => lead + each.join(lead)),
    ),
    letters.map((letter) => `&#${letter};`).join(''),
    letters.map((letter) => `&#x${letter.toString(16)};`).join(''),
    unicode,
    unicode.replace(/[a-f]/g, (digit) => digit.toUpperCase()),
    toUnicode(escapeJson(text), /[^ -~]/g),
    toUnicode(escapeJson(text), /[<>&\u2028\u2029]/g),
    toUnicode(escapeJson(text), /[<>&='\u2028\u2029]/g),
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    text.replace(/[$`"\\]/g, '\\$&'),
    text.replace(/[^\w@%+=:,./-]/g, '\\$&'),
  ];
}

const HTML_QUOTES = [
  ['&quot;', '&#39;'],
  ['&quot;', '&#x27;'],
  ['&quot;', '&apos;'],
  ['&#34;', '&#39;'],
] as const;

const toUnicode = (text: string, letters: RegExp) =>
  text.replace(letters, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);

function writeUrlForms(text: string): string[] {
  if (!text.isWellFormed()) return [];
  const component = encodeURIComponent(text);
  const strict = component.replace(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams([['', text]]).toString().slice(1);
  const forms = [
    component,
    strict,
    encodeURI(text),
    form,
    strict.replaceAll('%20', '+'),
    strict.replaceAll('%2F', '/'),
  ];
  return forms.flatMap((each) => [each, each.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/**
 * A secret inside an encoded text starts at any of three places of a group of three bytes. Letters that also have bits of its
 * neighbours are left out.
 */
function writeBase64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const lead of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(lead), bytes]).toString('base64');
    const first = Math.ceil((lead * 8) / 6);
    const stable = encoded.slice(first, Math.floor(((lead + bytes.length) * 8) / 6));
    forms.push(stable, stable.replaceAll('+', '-').replaceAll('/', '_'));
    if (/[+/]/.test(stable)) forms.push(encodeURIComponent(stable), stable.replaceAll('/', '\\/'));
  }
  return forms;
}
