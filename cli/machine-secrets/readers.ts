export interface SecretCandidate {
  value: string;
  /** Whether the value has the name of a secret. */
  named: boolean;
}

/**
 * Names in an environment follow fewer rules than names in code, so any name with one of these words counts. Its value must
 * still look like a secret.
 */
const SECRET_VARIABLE =
  /pass|pwd|secret|token|api_?key|auth(?!or(?!i))|credential|private|bearer|cookie|_key|^key|[a-z]Key$|dsn|conn|webhook|salt|signing|cert|_pat$/i;

/** `SMTP_AUTH_USER` has a mail address, although a password may look like one. */
const ADDRESS = /^[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}$/;

function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name) && !/^(?:OLD)?PWD$/.test(name);
}

/** Returns a value, also with its `\n` escapes resolved. For an address with a password, returns only the password. */
export function readPair(name: string, value: string): SecretCandidate[] {
  const inside = readUrls(value).map((password) => ({ value: password, named: true }));
  if (inside.length > 0) return inside;
  const named = isSecretVariable(name) && (!ADDRESS.test(value) || /pass|pwd|secret/i.test(name));
  const values = value.includes('\\n') ? [value, value.replaceAll('\\n', '\n')] : [value];
  return values.map((each) => ({ value: each, named }));
}

/** Passwords in addresses and connection strings, as written and decoded. */
function readUrls(text: string): string[] {
  return [
    ...readAll(text, /:\/\/[^\s:/@]{0,200}:([^\s@]{1,500})@/g),
    ...readAll(text, /(?:^|;)\s*(?:Password|Pwd|AccountKey|SharedAccessKey)=([^;]{1,500})/gi),
  ].flatMap((found) => [...new Set([found, decode(found)])]);
}

const readAll = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `KEY=VALUE`, `key: value`, `key = "value"`: .env, ini, npmrc, TOML and the YAML that command line tools write. */
const PAIR =
  /^[ \t]*(?:export[ \t]+|- )?["']?([\w./:@-]{1,200}?)["']?[ \t]*(?:=|:(?=[ \t"'`]))[ \t]*(?:"((?:[^"\\]|\\.){0,20000})"|'([^']{0,20000})'|`([^`]{0,20000})`|([^\r\n]*))/gm;

export function readPairs(text: string): SecretCandidate[] {
  return Array.from(text.matchAll(PAIR)).flatMap(([, name = '', double, single, back, bare]) => {
    const value = double ?? single ?? back ?? withoutComment(bare ?? '');
    return [...readPair(name, value), ...readEncoded(name, value)];
  });
}

function withoutComment(value: string): string {
  return value.replace(/[ \t]#.*$/, '').trim();
}

/** `_auth` in .npmrc and `auth` of Docker are base64 of `user:password`; `_password` is base64 of the password. */
function readEncoded(name: string, value: string): SecretCandidate[] {
  if (!/(?:^|[:_.])(?:auth|_password)$/i.test(name) || !/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return [];
  const plain = Buffer.from(value, 'base64').toString('utf8');
  if (!/^[\x20-\x7e]+$/.test(plain)) return [];
  return [{ value: plain.slice(plain.indexOf(':') + 1), named: true }];
}

/** Each string with the name of a secret, at any depth. */
export function readJson(text: string): SecretCandidate[] {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return readPairs(text);
  }
  const found: SecretCandidate[] = [];
  const open: [string, unknown][] = [['', root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, value] = next;
    if (typeof value === 'string') found.push(...readPair(name, value), ...readEncoded(name, value));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) open.push([Array.isArray(value) ? name : key, item]);
  }
  return found.filter(({ named }) => named);
}

const named = (values: readonly string[]) => values.map((value): SecretCandidate => ({ value, named: true }));

/** The whole file is the secret. */
export const readBare = (text: string) => named([text.trim()]);

/** netrc: `machine … login … password …`. */
export const readNetrc = (text: string) => named(readAll(text, /\b(?:password|passwd)[ \t\r\n]+(\S{1,500})/g));

export const readAddresses = (text: string) => named(readUrls(text));

/** One `host:port:database:user:password` per line. */
export const readPgpass = (text: string) => named(readAll(text, /^(?:[^:\r\n]*:){4}(.*)$/gm));

export const readXml = (text: string) =>
  Array.from(text.matchAll(/<([\w.-]{1,100})>([^<]{1,2000})</g)).flatMap(([, name = '', value = '']) =>
    isSecretVariable(name) ? named([value.trim()]) : [],
  );
