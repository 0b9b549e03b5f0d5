export interface Found {
  value: string;
  /** Stands under the name of a secret. */
  named: boolean;
}

/** Names in an environment are looser than in code: whatever has one of these in it. Its value still has to look the part. */
const SECRET_VARIABLE =
  /pass|pwd|secret|token|api_?key|auth(?!or(?!i))|credential|private|bearer|cookie|_key|^key|[a-z]Key$|dsn|conn|webhook|salt|signing|cert|_pat$/i;

/** `SMTP_AUTH_USER` holds a mail address; a password may look like one. */
const ADDRESS = /^[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}$/;

function isSecretVariable(name: string): boolean {
  return SECRET_VARIABLE.test(name) && !/^(?:OLD)?PWD$/.test(name);
}

/** A value, with its `\n` written out as well; of an address with a password only the password. */
export function readPair(name: string, value: string): Found[] {
  const inside = readUrls(value).map((password) => ({ value: password, named: true }));
  if (inside.length > 0) return inside;
  const named = isSecretVariable(name) && (!ADDRESS.test(value) || /pass|pwd|secret/i.test(name));
  const values = value.includes('\\n') ? [value, value.replaceAll('\\n', '\n')] : [value];
  return values.map((each) => ({ value: each, named }));
}

/** Passwords in addresses and connection strings, as they stand there and decoded. */
function readUrls(text: string): string[] {
  const inUrls = Array.from(text.matchAll(/:\/\/[^\s:/@]{0,200}:([^\s@]{1,500})@/g), (match) => match[1] ?? '');
  const inStrings = Array.from(
    text.matchAll(/(?:^|;)\s*(?:Password|Pwd|AccountKey|SharedAccessKey)=([^;]{1,500})/gi),
    (match) => match[1] ?? '',
  );
  return [...inUrls, ...inStrings].flatMap((found) => [...new Set([found, decode(found)])]);
}

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

export function readPairs(text: string): Found[] {
  return Array.from(text.matchAll(PAIR)).flatMap(([, name = '', double, single, back, bare]) => {
    const value = double ?? single ?? back ?? withoutComment(bare ?? '');
    return [...readPair(name, value), ...readEncoded(name, value)];
  });
}

function withoutComment(value: string): string {
  return value.replace(/[ \t]#.*$/, '').trim();
}

/** `_auth` in .npmrc and `auth` of Docker are base64 of `user:password`; `_password` is base64 of the password. */
function readEncoded(name: string, value: string): Found[] {
  if (!/(?:^|[:_.])(?:auth|_password)$/i.test(name) || !/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return [];
  const plain = Buffer.from(value, 'base64').toString('utf8');
  if (!/^[\x20-\x7e]+$/.test(plain)) return [];
  return [{ value: plain.slice(plain.indexOf(':') + 1), named: true }];
}

/** Each string under a secret's name, at any depth. */
export function readJson(text: string): Found[] {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return readPairs(text);
  }
  const found: Found[] = [];
  const open: [string, unknown][] = [['', root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [name, value] = next;
    if (typeof value === 'string') found.push(...readPair(name, value), ...readEncoded(name, value));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) open.push([Array.isArray(value) ? name : key, item]);
  }
  return found.filter(({ named }) => named);
}

/** The whole file is the secret. */
export function readBare(text: string): Found[] {
  return [{ value: text.trim(), named: true }];
}

/** netrc: `machine … login … password …`. */
export function readNetrc(text: string): Found[] {
  return Array.from(text.matchAll(/\b(?:password|passwd)[ \t\r\n]+(\S{1,500})/g), (match) => ({
    value: match[1] ?? '',
    named: true,
  }));
}

export function readAddresses(text: string): Found[] {
  return readUrls(text).map((value) => ({ value, named: true }));
}

/** `host:port:database:user:password` a line. */
export function readPgpass(text: string): Found[] {
  return text.split(/\r?\n/).map((line) => ({ value: line.split(':').slice(4).join(':'), named: true }));
}

export function readXml(text: string): Found[] {
  return Array.from(text.matchAll(/<([\w.-]{1,100})>([^<]{1,2000})</g)).flatMap(([, name = '', value = '']) =>
    isSecretVariable(name) ? [{ value: value.trim(), named: true }] : [],
  );
}
