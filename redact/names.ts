/**
 * What a name says about its value. `strong`: the value is a secret whatever it looks like (`api_key`). `password`: it may be
 * a weak one. `phrase`: it consists of words. `weak`: it is a secret if it also looks random (`token`, which may be a word of
 * a grammar). `key`: only if it is surely random (`key`, `client_token`). `vendor`: like `key`, but it may also be a UUID
 * (`stripe_key`).
 */
export type NameStrength = 'strong' | 'password' | 'phrase' | 'weak' | 'key' | 'vendor';

/** The words of a secret end its name: `password_reset_url` and `tokenType` are no secrets. These words may follow them. */
const STAGE =
  'value|string|str|plain|plaintext|text|raw|old|new|current|prod|production|dev|test|staging|live|local|base64|b64|hex|env|data|here|only';
/** They may also follow `token`, `key` and `secret`: one secret for each use. */
const USE =
  'read|write|readonly|read_only|rw|ro|admin|main|primary|secondary|backup|ci|cd|qa|uat|stage|sandbox|preview|internal|external|global|server|eu|us|for_[a-z0-9]+(?:_[a-z0-9]+){0,2}';
const SUFFIX = `(?:_?\\d{1,3})?(?:_(?:${STAGE}))?$`;
const LONG_SUFFIX = `(?:_?v?\\d{1,4})?(?:_(?:${STAGE}|${USE})){0,2}(?:_?v?\\d{1,4})?$`;

/** The word for password in other languages, in small letters and with `_` for a blank. */
export const PASSWORD_WORDS =
  'passwort|kennwort|passe|contrase(?:_?n?|ñ|ny)a|senha|wachtwoord|parola|passord|l[oö]senord|adgangskode|salasana|heslo|has[lł]o|[sş]ifre|mật_khẩu|jelsz[oó]|kata_sandi';

/** The word for password in alphabets beyond Latin-1. A text without these letters is not searched for it. */
export const PASSWORD_ELSEWHERE =
  /[пП]арол[ьяіюе]|[лЛ]озинка|[гГ]асло|密[码碼]|口令|パスワード|暗証番号|비밀번호|암호|รหัสผ่าน|पासवर्ड|סיסמ[הא]|كلمة[ _](?:المرور|السر)|κωδικός/g;

/** For these vendors, a UUID or a hash is an id and not a secret. */
const COUNTED =
  'idempotency|tenant|order|customer|issue|request|shard|blob|client|answer|invoice|payment|product|object|entity|event|job|task|account|organi[sz]ation|team|workspace|question|ticket|category|member|person|folder|worker|queue|topic|field|value|model|schema|table|segment|snapshot|version|transaction|operation|correlation|trace';

const STRENGTHS: readonly (readonly [NameStrength, RegExp])[] = [
  ['key', /(?:^|_)(?:client|update|unit|export|import|verification|grant|product)_tokens?$/],
  ['phrase', new RegExp(`(?:^|_)(?:mnemonic|(?:seed|recovery|backup)_?phrase|pass_?phrase|seed_?words)${SUFFIX}`)],
  [
    'password',
    new RegExp(
      `(?:password|passwd|pwd|(?:^|_)(?:psw|psk|pa?s{1,2}w?o?rd|pa?s{1,2}wd|pass_?word|pass_?code|pw|mysql_pwd|${PASSWORD_WORDS}|(?:db|user|smtp|imap|mail|email|ftp|sftp|ssh|root|admin|redis|sudo|become|http|proxy|store|key|login|my|mysql|pg|postgres|mongo|amqp|rabbitmq|ldap|bind|vpn|wifi|vault|server|service|app)_?pass))${SUFFIX}|(?:${PASSWORD_ELSEWHERE.source.toLowerCase()})$|(?:^|_)password_`,
    ),
  ],
  [
    'strong',
    new RegExp(
      `(?:^|_)(?:(?:\\w*_)?[a-z]{0,16}_?api_?keys?|[a-z]*secrete?|[a-z]*secret_?(?:key|token)|secret_key_base|docker_?config_?json|dockercfg|[a-z]*client_?secret|[a-z]*private_?key|[a-z]*access_?key|[a-z]*(?:access|refresh|id|auth|bearer|api|bot|session|security|deploy|oauth|identity)_?tokens?|personal_access_token|bearer|authorization|credentials?|connection_?string|conn_?str|signing_?(?:key|secret)|encryption_?key|master_?key|account_?key|shared_?key|subscription_?key|webhook_?secret|service_role_?key|licen[cs]e_?key|ssh_?key|client_key|app_?key|application_?key|admin_?key|auth_?key|consumer_?key|security_?key|otp|totp|two_?factor|mfa_?code)${LONG_SUFFIX}`,
    ),
  ],
  [
    'weak',
    new RegExp(
      `(?:^|_)(?:[a-z]*tokens?|pat|auth|pass|cookie|secrets|passwords|dsn|salt|jwt|csrf|xsrf|(?:php|j|asp|cgi)sess(?:ion)?_?id|connect_sid|session_cookie|csrf_?token|csrfmiddlewaretoken|(?:laravel|rack|play)_session)${LONG_SUFFIX}`,
    ),
  ],
  ['vendor', new RegExp(`(?<!(?:^|_)(?:${COUNTED}))(?<=[a-z0-9]{4})_key${LONG_SUFFIX}`)],
  // `shodan_api`: people leave out the last word.
  ['key', /(?<=[a-z0-9]{3})_api$/],
  ['key', new RegExp(`key_?id|(?:^|_)[a-z]*keys?${LONG_SUFFIX}|(?:^|_)(?:secret|token|auth|pat)_[a-z]+$`)],
];

/** Names that end like that of a secret, but belong to a setting, a cursor or something public. */
const HARMLESS = new RegExp(
  '(?:^|_)(?:max|min|num|count|total|next|page|prev|previous|continuation|cancellation|cancel|sync|has|is|no|use|show|hide|forgot|reset|public|publishable|design|syntax|token_type|stop|eos|bos|pad|unk|mask|special|input|output|invalid|missing|unexpected|current|last|first|start|end|end_of|open|close|parse|lex|keyword|lock|change|request|client_request|idempotency|concurrency|next_page|action|batch|cfn|aws|resource|starting|pagination|semicolon|colon|comma|dkim)_(?:[a-z]+_)?(?:token|tokens|auth|pass|api_key|password|secret|cookie)$' +
    '|^old_?pwd$|(?:change|request|next|page|action|dkim)_?tokens?$|(?:^|_)(?:id|ids|name|names|arn|url|uri|type|path|file|hash|version|date|expiry|used|changed|updated|created|age|days|at|length|size|count|index|policy|format|field|label|placeholder|digest|algorithm|endpoint|prefix|suffix|in|on|enabled|required|hint|manager|provider|store|service|error|status|mode|state|header|kind|class|(?<!password_)selector)$' +
    '|(?:^|_)(?:public|publish\\w*|primary|foreign|cache|sort|partition|i18n|lang|locale|translation|row|column|col|hash|range|group|storage|state|query|map|dict|object|prop|react|event|arrow|shift|enter|meta|alt|ctrl|lock|s3|bucket|file|path|route|dedup\\w*|config|setting|feature|flag|param|field|attr|menu|shortcut|record|item|entry|node|unique|composite|join|host|gpg|pgp|fingerprint|pub|session|message|thread|conversation|trace|metric|sub|bound|mon|don|tur|jo|hot|don|whis|fingerprint|verify|verification|release|artifact|image|layer|chunk|build|content|etag|registry|index|block|target|recv|tag|web_?socket|parent|child|template|document|doc|asset|package|commit|project|user|site|restore)_?keys?' +
    LONG_SUFFIX,
);

const CACHE_LIMIT = 20_000;
const SHORTEST = 2;
const LONGEST = 100;

/** Names repeat, so the result for each name is cached. */
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

/** A piece of a text keeps the whole text in memory. A copy does not. */
const detach = (piece: string) => ` ${piece}`.slice(1);

function readName(name: string): NameStrength | undefined {
  if (name.includes('[REDACTED:')) return undefined;
  const words = toWords(name);
  if (HARMLESS.test(words)) return undefined;
  // `我的token`: letters of another alphabet also separate words.
  const ascii = words.replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '');
  return STRENGTHS.find(([, pattern]) => pattern.test(words) || pattern.test(ascii))?.[0];
}

/** `clientSecret`, `CLIENT-SECRET` and `client.secret` → `client_secret`. */
function toWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
}
