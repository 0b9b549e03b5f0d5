import type { NameStrength } from './names.ts';
import type { Shape } from './values.ts';

/** A name of a secret in a text. */
export interface Name {
  start: number;
  end: number;
  strength: NameStrength;
}

/** One way to write a value after its name. */
export interface Separator {
  /** One of these letters follows the name. Most names in a text are followed by another letter. */
  begins: string;
  pattern: RegExp;
  /** Whether a name can be followed by a value of this form. */
  fits?: (text: string, name: Name) => boolean;
  /** The shape of quoted and bare values alike. Without it, quotes decide. */
  shape?: Shape;
  /** `value`: quoted or bare. `sentence`: ends with the punctuation of a sentence. `far`: more words are between. */
  reads?: 'value' | 'sentence' | 'far' | 'loose';
  /** Texts with a secret that it finds, and texts without one, in the notation of the rows of `rules`. */
  yes: readonly string[];
  no: readonly string[];
}

const QUOTES = '\\"\'`';
const QUOTED_NAME = String.raw`(?:\\{0,7}["'\x60])?`;
const BLANKS = ' \t';

/** Words between `password` and its purpose. */
export const PURPOSES = 'for of to on für von pour de du del da do para для от'.split(' ');
/** Words between a password and its value. */
export const VERBS = 'is was ist lautet est es é è er är это'.split(' ').concat('set to');
/** More such words, for a value that follows directly. */
export const NEAR_VERBS = [...VERBS, 'to', 'geändert auf', 'auf', '→', '->', '–', '—', '-'];
/** The same without blanks. */
export const JOINED_VERBS = ['是', '为', '為', 'は', '：'];

const [purposes, verbs, nearVerbs] = [PURPOSES, VERBS, NEAR_VERBS].map((words) => words.join('|'));
const OPEN = '["\'`「“«]?';

const isPassword = (_text: string, { strength }: Name) => strength === 'password';
const isSure = (_text: string, { strength }: Name) => strength === 'password' || strength === 'strong';

function isFlag(text: string, { start }: Name): boolean {
  return text[start] === '-' || BEFORE_FLAG.test(text.slice(Math.max(0, start - 48), start));
}
const BEFORE_FLAG =
  /(?:(?:^|[\s"'`(\\nt])(?:set|setx|env|define|const|arg|export)[ \t]{1,4}(?:--?[a-z]{1,12}[ \t]{1,4}){0,4}|[\s"'`]--?)$/i;

/** All ways to write a value after its name, the surest first. */
export const SEPARATORS: readonly Separator[] = [
  {
    begins: `?:${BLANKS}`,
    pattern:
      /\??[ \t]{0,2}:[ \t]{0,2}&?[A-Za-z_][\w.]{0,20}(?:[<[][\w<>[\], ]{0,20}[>\]])?(?: ?\| ?\w{1,12})?[ \t]{1,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y,
    yes: [
      'apiKey: string = "<alnum 24>"',
      "token?: string | undefined = '<alnum 24>'",
      'let secret: &str = "<alnum 24>"',
    ],
    no: ['apiKey: string = key'],
  },
  {
    begins: BLANKS,
    pattern: /[ \t]{1,8}(?:string|str|&str)[ \t]{0,2}=[ \t]{0,2}(?=\\{0,7}["'`])/y,
    yes: ['var apiToken string = "<alnum 24>"'],
    no: ['var apiToken string = load()'],
  },
  {
    begins: ':',
    pattern: /:[ \t]{0,3}[|>][+-]?[ \t]{0,3}(?:\r?\n|\\{1,7}n)[ \t]{1,24}/y,
    shape: 'bare',
    yes: ['api_token: |\n  <alnum 24>', 'api_token: >-\\n    <alnum 24>'],
    no: ['api_token: |\n  see the vault'],
  },
  {
    begins: `${QUOTES}])}${BLANKS}:?+.!|=＝：-<`,
    pattern: new RegExp(
      String.raw`${QUOTED_NAME}[\])}]{0,2}[ \t]{0,40}(?::{2,3}=|:-|[:?+.!|]?[=＝]{1,3}>?|[:：](?!:)|->|<-|\|\||(?:\?[?:]|or)(?=\x20["']))[ \t]{0,40}(?:[\[(][\s]{0,8}(?=\\{0,7}["'\x60]))?(?:[@$A-Za-z]{1,2}(?=["']))?`,
      'y',
    ),
    yes: [
      'API_TOKEN=<alnum 24>',
      '{"apiToken": "<alnum 24>"}',
      "config['api_token'] = '<alnum 24>'",
      '$env:API_TOKEN = "<alnum 24>"',
      'api_token := "<alnum 24>"',
      'password ::= <strong 12>',
      'echo {API_TOKEN:-<alnum 24>}',
      'api_token => "<alnum 24>"',
      'api_token ?= <alnum 24>',
      'if (token === "<alnum 24>")',
      'password＝<strong 12>',
      'password：<strong 12>',
      'password <- "<strong 12>"',
      'api_token || "<alnum 24>"',
      'token ?? "<alnum 24>"',
      "os.environ.get(x).token or '<alnum 24>'",
      'api_tokens = ["<alnum 24>"]',
      'api_token = b"<alnum 24>"',
      'X-Api-Token: <alnum 24>',
    ],
    no: ['token = getToken()', 'std::token::Kind', 'password: string', 'API_TOKEN=$TOKEN'],
  },
  // A long line that a formatter broke after the sign, and a text between three quotes.
  {
    begins: `${QUOTES}${BLANKS}:=|`,
    pattern: new RegExp(
      String.raw`${QUOTED_NAME}[ \t]{0,8}(?::[ \t]{0,2}(?:string|str)[ \t]{0,2})?(?:[:=]=?|\|\|)[ \t]{0,4}(?:\(?[ \t]{0,4}\r?\n[ \t]{1,60}(?=["'\x60])|(?:"{3}|'{3})(?=[^"'\s]))`,
      'y',
    ),
    yes: [
      'const apiToken =\n  "<alnum 60>";',
      'api_token: str = (\n    "<alnum 60>"\n)',
      '"apiToken":\n  "<alnum 60>"',
      'api_token = """<alnum 60>"""',
      "api_token = '''<alnum 60>'''",
      'process.env.API_TOKEN ||\n  "<alnum 60>"',
    ],
    no: ['const apiToken =\n  "your-token";', 'api_token = """The token of the service."""'],
  },
  {
    begins: '(',
    pattern: /\(\)[^"'`\n;]{0,40}\{\s{0,40}return[ \t]{1,4}(?=["'`])/y,
    shape: 'column',
    yes: ['func apiToken() string { return "k7<alnum 24>" }'],
    no: ['getToken() { return "token" }'],
  },
  // The form in which containers list their environment, and settings in XML.
  {
    begins: `<${QUOTES},\r\n${BLANKS}`,
    pattern:
      /<\/key>\s{0,24}<(?:value|string)>|(?:\\{0,7}["'],?(?:\r?\n|\\{1,7}n|[ \t]){0,40}|,?(?:\r?\n|\\{1,7}n|[ \t]){1,40})(?:\\{0,7}["'])?value(?:\\{0,7}["'])?[ \t]?[:=][ \t]{0,4}/iy,
    yes: [
      '- name: API_TOKEN\n  value: <alnum 24>',
      '{"name": "API_TOKEN", "value": "<alnum 24>"}',
      '<add key="ApiToken" value="<alnum 24>" />',
      '<key>apiToken</key><string><alnum 24></string>',
    ],
    no: ['- name: API_TOKEN\n  valueFrom:'],
  },
  {
    begins: '\\"',
    pattern: /\\{0,7}"[ \t]{0,2}\{[^{}]{0,160}?default[ \t]{0,20}=[ \t]{0,4}/y,
    yes: ['variable "api_token" {\n  type = string\n  default = "<alnum 24>"\n}'],
    no: ['variable "api_token" {\n  type = string\n}'],
  },
  {
    begins: `${QUOTES}]${BLANKS},`,
    pattern: /(?:(?:(?:\\{0,7}["'])?\])?\\{0,7}["'`]|(?<=[A-Z]{3}))[ \t]{0,2},[ \t\r\n]{0,10}(?=\\{0,7}["'`])/y,
    shape: 'argument',
    yes: [
      'setenv("API_TOKEN", "<alnum 24>")',
      "define('DB_PASSWORD', '<strong 12>')",
      'setopt(API_TOKEN, "<alnum 24>")',
    ],
    no: ['setenv("API_TOKEN", "path")', 't("password", "Passwort")'],
  },
  // A type, a call or a list around the value: `SecretStr("…")`, `[]byte("…")`, `String::from("…")`; also its default.
  {
    begins: `${QUOTES}]${BLANKS}:=`,
    pattern: new RegExp(
      String.raw`${QUOTED_NAME}\]?[ \t]{0,8}(?::[ \t]{0,2}\w{1,16}[ \t]{1,2})?(?::=|[:=])[ \t]{0,4}(?:new )?&?(?:\[\])?[A-Za-z_][\w.:<>]{0,40}!?[({][ \t]{0,2}(?:["'][\w.-]{1,60}["'](?:,[ \t]{0,2}(?:default[ \t]{0,2}=[ \t]{0,2})?|\)[ \t]{0,2}(?:\|\||\?\?|\?:|or)[ \t]{0,2}))?(?=\\{0,7}["'\x60])`,
      'y',
    ),
    shape: 'column',
    yes: [
      'password = SecretStr("k7<strong 12>")',
      'apiKey := []byte("k7<alnum 24>")',
      'let password = String::from("k7<strong 12>#4");',
      'Password: Secret{"k7<strong 12>#4"}',
      'token: Some("k7<alnum 24>".to_string())',
      'password: str = Field("k7<strong 12>#4")',
      'password = os.getenv("DB_PASSWORD", "k7<strong 12>#4")',
      "api_token = config.get('x', default='k7<alnum 24>')",
      'password = env.get("DB_PASSWORD") || "k7<strong 12>#4"',
    ],
    no: [
      'password = os.getenv("DB_PASSWORD")',
      'password: t("login.password")',
      'token = read("path/v2/token1.txt")',
      'password = get_secret("prod/db1")',
    ],
  },
  // A setter, and an initializer of C++.
  {
    begins: '({',
    pattern: /[({][ \t]{0,2}(?=\\{0,7}["'`])/y,
    fits: isSure,
    shape: 'column',
    yes: ['std::string password{"k7<strong 12>#4"};', 'config.setPassword("k7<strong 12>#4")'],
    no: ['setPassword("password1")', 'getSecret("prod/db1")', 'validatePassword("too short")'],
  },
  // The expectation of a test.
  {
    begins: `"'(),${BLANKS}`,
    pattern:
      /(?:["']\])?(?:\(\))?(?:[ \t]{0,2},[ \t\r\n]{0,24}|\)[ \t\r\n]{0,24}\.(?:(?:not|to|be|is|have)\.){0,2}(?:to|is|be|eq)[A-Za-z]{0,16}\()(?=\\{0,7}["'`])/y,
    fits: isSure,
    shape: 'column',
    yes: [
      "assert.equal(x['AccountKey'], 'k7<alnum 24>')",
      'assertEquals(config.getPassword(), "k7<strong 12>#4")',
      'strcmp(password, "k7<strong 12>#4")',
      "expect(config.apiToken).toBe('k7<alnum 24>')",
      'assertThat(c.getPassword()).isEqualTo("k7<strong 12>#4")',
      'expect(password).to.equal("k7<strong 12>#4")',
    ],
    no: ["assert.equal(x['AccountKey'], 'key')", 'expect(password).toBe("password1")', 'f(apiToken, "utf8")'],
  },
  {
    begins: `>${BLANKS}`,
    pattern: /(?:[ \t]{1,4}[\w:.-]{1,40}=\\{0,7}"[^"<>\n]{0,80}"){0,4}>\s{0,20}/y,
    // Excludes `List<Password> passwords`.
    fits: (text, { start }) => text[start - 1] === '<' && !/\w/.test(text[start - 2] ?? ''),
    shape: 'quoted',
    yes: ['<apiToken><alnum 24></apiToken>', '<password xsi:type="xs:string"><strong 12></password>'],
    no: ['<password name="password"></password>', 'a.token>b', 'List<X509Credential> decryptionX509Credentials;'],
  },
  {
    begins: BLANKS,
    pattern: /[ \t]{1,4}/y,
    fits: isFlag,
    yes: [
      'deploy --api-token <alnum 24>',
      'set -gx API_TOKEN <alnum 24>',
      'setx API_TOKEN <alnum 24>',
      'ENV API_TOKEN <alnum 24>',
    ],
    no: ['deploy --token --force', 'the token <alnum 24>'],
  },
  // `vault read`, `column -t`, `psql -x`: names and values in columns.
  {
    begins: `${BLANKS}|│`,
    pattern: /(?:[ \t]{2,60}|\t)(?:(?:string|text|password|secret|sensitive)[ \t]{1,40})?|[ \t]{0,40}[|│][ \t]{1,40}/y,
    fits: isSure,
    shape: 'column',
    yes: [
      'password            k7<alnum 20>#4',
      'password   string   k7<alnum 20>#4',
      'password | k7<alnum 20>#4',
      'api_token\tk7<alnum 20>9',
    ],
    no: ['password            required', 'password | varchar'],
  },
  // A list of settings that a program needs. A quoted value may be a UUID here.
  {
    begins: ' ',
    pattern: / [-–—] (?=["'][^"'\s]{16,200}["'])/y,
    yes: ["shop token - '<hex 8>-<hex 4>-<hex 4>-<hex 4>-<hex 12>'", 'api token – "<alnum 24>"'],
    no: ["token - 'the name'", "token - 'authentication-provider'"],
  },
  // The cell beside its name, and the element below.
  {
    begins: ':<',
    pattern: /:?<\/[a-z]{1,8}>:?\s{0,24}(?:<[a-z]{1,8}(?: [^<>\n]{0,60})?>\s{0,8}){1,3}/y,
    shape: 'column',
    yes: ['<th>Password</th>\n  <td>k7<strong 12>#4</td>', '<td>API key</td><td><code>k7<alnum 24></code></td>'],
    no: ['<th>Password</th><th>Role</th>', '<td>password</td><td>varchar(255)</td>'],
  },
  // A separate line below the name, also between fences; and the value that a comment above describes.
  {
    begins: `:*\r\n${BLANKS}`,
    pattern:
      /[*:]{0,3}[ \t]{0,4}(?:\r?\n[ \t]{0,16}){1,3}(?:`{3}[a-z]{0,10}\r?\n)?(?=[^\s"'`\\<>(){};,]{8,64}[ \t]*(?:[\r\n]|$))/y,
    fits: isPassword,
    reads: 'far',
    yes: ['Password\nk7<strong 12>#4\n', '**Password:**\n\n```\nk7<strong 12>#4\n```\n'],
    no: ['Password\nversion2\n', 'old_password\nnew_password2\n', 'password\n/srv/app/v2#readme\n'],
  },
  {
    begins: `:*\r\n${BLANKS}`,
    pattern:
      /[*:.]{0,3}[ \t]{0,4}(?:(?:\r?\n[ \t]{0,16}){2,3}|\r?\n[ \t]{0,16}(?:`{3}[a-z]{0,10}\r?\n|(?:(?:const|let|var|final|static|private|public|String|export) ){0,5}[A-Za-z_][\w.]{0,40}[ \t]{0,8}:?=[ \t]{0,4}["'`]))(?=[\w+/=.~-]{16})/y,
    reads: 'loose',
    yes: [
      'API token:\n\nk7<alnum 30>\n',
      'API token:\n```\nk7<alnum 30>\n```',
      '# the api key\nclient = "k7<alnum 30>"',
    ],
    no: ['API token:\n\nauthentication-provider-name\n', '# the api key\nname = "authentication-provider"'],
  },
  // A notebook stores each line as a string.
  {
    begins: ':',
    pattern: /:(?:\\n",\r?\n[ \t]{0,12}"[ \t]{0,8}){1,3}(?=[\w+/=.~-]{16})/y,
    reads: 'loose',
    yes: ['"The API key:\\n",\n    "\\n",\n    "    k7<alnum 60>\\n",'],
    no: ['"The API key:\\n",\n    "authentication-provider-name\\n",'],
  },
  {
    begins: BLANKS,
    pattern: /[ \t]{1,4}(?=["'])/y,
    fits: isPassword,
    yes: ["CREATE USER robin PASSWORD '<strong 12>'"],
    no: ["the password 'password' is"],
  },
  {
    begins: ` :${JOINED_VERBS.join('')}`,
    pattern: new RegExp(
      String.raw`(?:(?: is generated)?(?: (?:${purposes}) [^\s:=]{1,40}| [([][a-z ]{2,20}[)\]])?(?: ?: {1,3}| ?(?:${JOINED_VERBS.join('|')}) {0,3}(?=[!-~「“])| (?:${nearVerbs})(?: now)?:? {1,3}|(?<=[\u0370-\u1fff]) )|(?<=(?:\b(?:and|with|und|mit|et|y)(?: the| dem)?|,) [A-Za-z]{4,12}) (?=["'\x60]?[^\s/]{0,64}[A-Z\d][^\s/]{0,64}\d[^\s/]{0,64}(?:\s|$)))${OPEN}`,
      'y',
    ),
    fits: isPassword,
    reads: 'sentence',
    yes: [
      'the password is generated : <strong 12>',
      'the password (for now) is <strong 12>.',
      'the password is now: <strong 12>',
      'пароль <strong 12>',
      'user robin and password <alnum 10>7',
      'log in as robin with the password <alnum 10>7',
      'Benutzer robin mit dem Passwort <alnum 10>7',
      'the password is «<strong 12>»',
    ],
    no: ['the password is required', 'the password is not set', 'user and password fields'],
  },
  // With more words between, the value must look more like a secret.
  {
    begins: ' ',
    pattern: new RegExp(
      String.raw`(?: (?:${purposes})(?: [^\s:=]{1,40}){1,4})(?: ?: {1,3}| (?:${verbs})(?: now)?:? {1,3})${OPEN}`,
      'y',
    ),
    fits: isPassword,
    reads: 'far',
    yes: ['the password of the new server is <strong 12>', 'password for the shop : <strong 12>'],
    no: ['the password of the new server is version2', 'password for the shop: none'],
  },
  {
    begins: ` :,()*${QUOTES}`,
    pattern:
      /[^\n\r:.]{0,60}:[ \t]{0,4}(?:(?:\r?\n|\\{1,7}n)[ \t]{0,16}){1,3}(?=[^\s"'`\\]{6,64}[ \t]*(?:[\r\n]|\\{1,7}[nr]|$))/y,
    fits: isPassword,
    reads: 'far',
    yes: ['Use the following password to go on:\n\n  <strong 12>\n', 'password:\\n<strong 12>\\n'],
    no: ['Use the following password:\nversion2\n', 'password:\n  type: string\n'],
  },
  {
    begins: `([{:,-/\r\n${QUOTES}${BLANKS}`,
    pattern:
      /(?:(?=[ \t"'`([{:,-])["'`]?[ \t]{0,4}(?:(?:[-–—:=>|~,]{1,3}|is|was)[ \t]{1,4}|\|)?["'`([{]{0,3}|[ \t:]{0,4}(?:\r?\n|\\{1,7}n)[ \t>|-]{0,24}["'`]?|\/)(?=[\w+/=.~-]{16})/y,
    reads: 'loose',
    yes: [
      "api token - 'k7<alnum 30>'",
      'the api token is k7<alnum 30>',
      'secret k7<alnum 30>',
      'api_token:\nk7<alnum 30>',
      'https://x.test/token/k7<alnum 30>',
    ],
    no: ['token <uuid>', 'secret authentication-provider-name'],
  },
];
