/**
 * What a name says about its value. `strong`: it is a secret whatever it looks like (`password`). `weak`: it is one if it
 * also looks like one (`token`, which may as well be a word of a grammar).
 */
export type NameStrength = 'strong' | 'weak';

/** The words come last in a name: `password_reset_url` and `tokenType` hold no secret. A number or a stage may follow. */
const SUFFIX =
  '(?:_?\\d{1,3})?(?:_(?:value|string|str|plain|plaintext|text|raw|old|new|current|prod|production|dev|test|staging|live|local|base64|b64|hex|env|data))?$';

const STRONG = new RegExp(
  `(?:^|_)(?:password|passwd|passphrase|pwd|passcode|mysql_pwd|(?:db|user|smtp|mail|email|ftp|ssh|root|admin|redis|sudo|http)_pass|api_?key|x_api_?key|secret|secret_?key|client_?secret|private_?key|(?:secret_)?access_?key|access_?token|refresh_?token|id_?token|auth_?token|bearer_?token|api_?token|bot_?token|session_?token|security_?token|deploy_?token|oauth_?token|identity_?token|personal_access_token|bearer|authorization|credentials?|connection_?string|conn_?str|signing_?key|signing_?secret|encryption_?key|master_?key|account_?key|shared_?key|subscription_?key|webhook_?secret|service_role_?key|license_?key|ssh_?key|client_key|app_?key|application_?key|admin_?key|auth_?key|pat)${SUFFIX}`,
);
const WEAK = new RegExp(`(?:^|_)(?:token|auth|pass|cookie|secrets|passwords|dsn|salt|otp|jwt|csrf|xsrf)${SUFFIX}`);

/** Names that end like a secret and hold a setting, a cursor or something public. */
const HARMLESS =
  /(?:^|_)(?:max|min|num|count|total|next|page|prev|previous|continuation|cancellation|cancel|sync|has|is|no|use|show|hide|forgot|reset|public|publishable|design|syntax|token_type|stop|eos|bos|pad|unk|mask|special|input|output|invalid|missing|unexpected|current|last|first|start|end|end_of|open|close|parse|lex|keyword|lock)_(?:[a-z]+_)?(?:token|tokens|auth|pass|key|api_key|password|secret|cookie)$|^(?:pwd|oldpwd|old_pwd)$/;

const CACHE_LIMIT = 20_000;
const SHORTEST = 3;
const LONGEST = 100;

/** Names repeat, so what was found out about one is kept. */
export function createNameReader(): (name: string) => NameStrength | undefined {
  const seen = new Map<string, NameStrength | undefined>();
  return (name) => {
    if (name.length < SHORTEST || name.length > LONGEST) return undefined;
    if (seen.has(name)) return seen.get(name);
    const strength = readName(name);
    if (seen.size < CACHE_LIMIT) seen.set(detach(name), strength);
    return strength;
  };
}

/** A piece of a text keeps all of the text in memory; put together anew, it stands for itself. */
const detach = (piece: string) => ` ${piece}`.slice(1);

function readName(name: string): NameStrength | undefined {
  if (name.includes('[REDACTED:')) return undefined;
  const words = toWords(name);
  if (HARMLESS.test(words)) return undefined;
  if (STRONG.test(words)) return 'strong';
  if (WEAK.test(words)) return 'weak';
  return undefined;
}

/** `clientSecret`, `CLIENT-SECRET` and `client.secret` → `client_secret`. */
function toWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}
