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

export function isSecretVariable(name: string): boolean {
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
export function readUrls(text: string): string[] {
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
