import { describe, expect, test } from 'vitest';
import { redactOne } from '../../cli/test/redacting.ts';
import { createRedactor } from '../redactor.ts';
import { made, madeUuid } from './made.ts';

/** Texts on a screen while an agent works. Each text comes with several generated secrets, and `§` marks the secret. */
const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
let sessions = 0;

function redact(...outputs: unknown[]): string[] {
  // Each call has its own session, so that no call masks the secrets of another.
  const subject = { session: `codex ${++sessions}` };
  return outputs.map((output) =>
    JSON.stringify(redactOne(redactor, { eventType: 'tool.result', payload: { source, output } }, subject).payload),
  );
}

const DRAWS = [1, 2, 3, 4, 5, 6];
const base64 = (text: string) => Buffer.from(text).toString('base64');
/** Passwords as people and password generators make them: letters, a digit and a sign. */
const strong = (seed: number) =>
  `${made('letters', 5, seed)}${made('digits', 1, seed)}!${made('alnum', 6, seed + 9)}#7`;
const letters = (length: number) => (seed: number) => `Q${made('letters', length - 3, seed)}xT`;
const alnum = (length: number) => (seed: number) => `k7${made('alnum', length - 2, seed)}`;
const hex = (length: number) => (seed: number) => made('hex', length, seed);

const SITUATIONS: { [what: string]: { secret: (seed: number) => string; texts: string[] } } = {
  'the key base of Rails': {
    secret: hex(128),
    texts: ['secret_key_base: §', 'SECRET_KEY_BASE=§', '{"secret_key_base": "§"}', 'production:\n  secret_key_base: §'],
  },
  'a password in base64': {
    secret: (seed) => base64(made('letters', 13, seed)),
    texts: ['  password: §', 'data:\n  password: §\n  username: cm9iaW4=\n'],
  },
  'a secret of Kubernetes': {
    secret: (seed) => base64(`host=db user=app pass=${made('letters', 9, seed)}`),
    texts: [
      'apiVersion: v1\ndata:\n  conn: §\nkind: Secret\nmetadata:\n  name: shop\n',
      'kind: Secret\napiVersion: v1\nmetadata:\n  name: shop\nstringData:\n  config.json: "§"\n',
      'apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    uri: §\n  kind: Secret\n  metadata:\n    name: a\n- apiVersion: v1\n  kind: List\n',
      '     1\tapiVersion: v1\n     2\tkind: Secret\n     3\tdata:\n     4\t  conn: §\n',
      '+apiVersion: v1\n+kind: Secret\n+data:\n+  conn: §\n',
      '-apiVersion: v1\n-kind: Secret\n-data:\n-  conn: §\n',
      '{"apiVersion":"v1","data":{"conn":"§"},"kind":"Secret","metadata":{"name":"a"}}',
      '$ kubectl get secret -o json\n{\n  "kind": "Secret",\n  "data": {\n    "conn": "§"\n  }\n}\n',
      'apiVersion: v1\nkind: Secret\nstringData:\n  config: |\n    §\ntype: Opaque\n',
    ],
  },
  'a login of Docker for Kubernetes': {
    secret: (seed) => base64(`{"auths":{"registry.test":{"auth":"${base64(`ada:${made('alnum', 14, seed)}`)}"}}}`),
    texts: ['  .dockerconfigjson: §', '".dockerconfigjson": "§"', 'echo § | base64 -d'],
  },
  'a value many blanks behind its name': {
    secret: alnum(16),
    texts: [
      'Key                 Value\n---                 -----\npassword            §\nusername            robin\n',
      'DB_PASSWORD            §',
      'db_password          : §',
      'db_password              = "§"',
      '802-11-wireless-security.psk:                 §',
      'password   string   §',
      'password\t§',
    ],
  },
  'a column of a table': {
    secret: strong,
    texts: [
      'user,password\nroot,§\nada,hunter2\n',
      '"user","password","mail"\n"root","§","root@x.test"\n',
      '| user | password |\n| --- | --- |\n| root | § |\n',
      ' username | password \n----------+----------\n robin    | §\n(1 row)\n',
      '-[ RECORD 1 ]-----\nusername | robin\npassword | §\n',
      'name\tapi_key\nshop\t§\n',
      "INSERT INTO users (name, password) VALUES ('robin', '§');",
      "INSERT INTO `users` (`id`, `name`, `password`)\nVALUES (1, 'a, b', 'x7hunter2'),\n  (2, 'robin', '§');",
    ],
  },
  'the new value of a change': {
    secret: alnum(24),
    texts: [
      '  ~ "API_TOKEN" = "k3old9old2old8old1ol" -> "§"',
      '  ~ API_TOKEN = "k3old9old2old8old1ol" => "§"',
      '  + "API_TOKEN" = null -> "§"',
      '  ~ password = (sensitive value) -> "§"',
    ],
  },
  'a password without a digit': {
    secret: letters(16),
    texts: [
      'jdbc:postgresql://db/shop?user=robin&password=§',
      'spring.datasource.password=§',
      'Server=db;Database=shop;User Id=sa;Password=§;Encrypt=yes',
      'PASSWORD=§',
    ],
  },
  'a password with words between': {
    secret: strong,
    texts: [
      'Das Passwort für den Server lautet §',
      'Voici le mot de passe de la base : §',
      'la contraseña del servidor es §',
      'a senha do banco é §',
      'the database password of the new server is §.',
      'use § as the admin password',
      'Please set "§" as the database password and restart.',
    ],
  },
  'the credentials of AWS as text': {
    secret: (seed) => `k7${made('base64', 38, seed)}`,
    texts: [
      `CREDENTIALS\tASIA${made('base32', 16)}\t2026-11-23T01:00:00+00:00\t§\tIQoJ${made('base64', 300)}`,
      `ASIA${made('base32', 16)}    §`,
    ],
  },
  'a session in a list of names and values': {
    secret: hex(32),
    texts: [
      '{"cookies": [{"name":"sessionid","value":"§"}]}',
      'log: "cookies": [{"name": "sessionid", "value": "§"}',
      '{"headers": [{"name":"X-CSRF-Token","value":"§"}]}',
      'log: {"name": "X-CSRF-Token", "value": "§"} …',
    ],
  },
  'a token in colours': {
    secret: (seed) => `ghp_\u001b[m\u001b[K${made('alnum', 36, seed)}`,
    texts: ['a.env:\u001b[01;31m\u001b[K§', 'GH_TOKEN=\u001b[01;31m\u001b[K§'],
  },
  'a token that is wrapped': {
    secret: (seed) => {
      const token = `sk-ant-api03-${made('url', 93, seed)}AA`;
      return `${token.slice(0, 63)}\n${token.slice(63)}`;
    },
    texts: [`${'a'.repeat(39)} ${'b'.repeat(40)}\nANTHROPIC_KEY is §\nand then`],
  },
  'a password of Ansible': {
    secret: (seed) => `${made('digits', 2, seed)}p7!${made('letters', 4, seed)}#34`,
    texts: ['ansible_become_pass=§', 'ansible_become_pass: §', 'host1 ansible_user=ada ansible_ssh_pass=§'],
  },
  'a generated password of Terraform': {
    secret: strong,
    texts: ['{"type": "random_password", "instances": [{"attributes": {"length": 16, "result": "§"}}]}'],
  },
  'a sealed secret of some thousand letters': {
    secret: (seed) => `k7${made('base64', 2600, seed)}`,
    texts: ['SEALED_CREDENTIAL: §', 'SEALED_CREDENTIAL=§', 'token is in refresh_token=§&scope=all'],
  },
  'a secret longer than any that is known': {
    secret: (seed) => `k7${made('base64', 9000, seed)}`,
    texts: [
      'API_TOKEN=§',
      'the api token is § for now',
      'export API_TOKEN="§"; run',
      'api_token: §\nport: 80',
      "const apiToken = '§';",
      'token=§&a=b',
    ],
  },
  'a long secret with signs near its end': {
    secret: (seed) => `k7${made('base64', 6500, seed)}|${made('base64', 600, seed)}`,
    texts: ['export API_TOKEN="§"', "const apiToken = '§';"],
  },
  'a token of digits alone': {
    secret: (seed) => made('digits', 32, seed),
    texts: ['botToken = "§"', '{"discord_token": "§"}'],
  },
  'a hash that is the key of an API': {
    secret: hex(64),
    texts: ['Sending request to the shop API\nUsing Key=§\n', 'GET https://api.shop.test/v1/user?key=§'],
  },
  'a UUID that is the key of an API': {
    secret: madeUuid,
    texts: ['GET https://api.shop.test/v1/items?key=§', 'curl "https://api.shop.test/v1/orders?page=2&key=§"'],
  },
  'a password of letters as an argument': {
    secret: (seed) => `QzT${made('letters', 26, seed).replace(/[aeiou]/gi, 'x')}XkR`,
    texts: ['curl_easy_setopt(curl, CURLOPT_PASSWORD, "§");'],
  },
  'a key that begins like a path': {
    secret: (seed) => `/k7Q${made('alnum', 36, seed)}`,
    texts: ['aws_secret = "§"', 'const clientSecret = "§";'],
  },
  'a value in a list of settings': {
    secret: () => madeUuid(3),
    texts: ["shop token - '§'"],
  },
};

const CASES = Object.entries(SITUATIONS).flatMap(([what, { secret, texts }]) =>
  texts.map((text) => [what, text, secret] as const),
);

test.each(CASES)('%s is masked: %j', (_what, text, secret) => {
  for (const draw of DRAWS) {
    const value = secret(draw);
    const [masked = ''] = redact(text.replace('§', () => value));
    const escaped = JSON.stringify(value).slice(1, -1);
    for (let at = 0; at + 12 <= escaped.length; at++) {
      if (/^(?:[^\\]|\\(?=.))*$/.test(escaped.slice(at, at + 12)))
        expect(masked).not.toContain(escaped.slice(at, at + 12));
    }
    expect(masked).not.toContain(escaped);
    expect(masked).toContain('[REDACTED:');
  }
});

test.each(['"§"', "'§'"])('a password in brackets or with a dollar is masked to its end in %s', (quoted) => {
  const passwords = DRAWS.flatMap((draw) => {
    const word = made('letters', 5, draw);
    return [`${word}(3${draw})!`, `Sommer(202${draw})!`, `Win(202${draw})${word}`, `Hunter${draw})${word}`];
  });
  if (quoted === "'§'") passwords.push('My$ecret1!', 'pa$$Word(7)');
  for (const password of passwords) {
    const command = `ConvertTo-SecureString ${quoted} -AsPlainText -Force`;
    const [payload = ''] = redact(command.replace('§', () => password));
    expect(payload.replaceAll('\\"', '"')).toMatch(
      /ConvertTo-SecureString (["'])\[REDACTED:[\w-]+:[0-9a-f]{4}\]\1 -AsPlainText -Force/,
    );
  }
});

test('a text after a very long secret stays unchanged', () => {
  const secret = `k7${made('base64', 9000)}`;
  const [payload] = redact(`API_TOKEN=${secret} ./run\napi_token: "${secret}" # of the shop`);
  expect(payload).toMatch(/API_TOKEN=\[\S{1,60}\] \.\/run\\napi_token: \\"\[\S{1,60}\]\\" # of the shop/);
});

test.each([
  'authorization: Bearer §',
  'The server wants a header with Bearer §',
  'GET / HTTP/1.1\nCookie: sid=§',
  'set-cookie: session_token=§; Path=/',
  '{"name":"sessionid","value":"§"}',
])('a very long value of a header is masked to its end in %s', (text) => {
  const secret = `k7${made('base64', 9000)}`;
  const [payload = ''] = redact(`${text.replace('§', secret)}\nthe rest`);
  for (let at = 0; at < secret.length - 20; at += 500) expect(payload).not.toContain(secret.slice(at, at + 20));
  expect(payload).toContain('the rest');
});

describe('a proven secret is masked when the assistant repeats it', () => {
  const TEXTS: [text: string, secret: (seed: number) => string][] = [
    ["sshpass -p '§' ssh ada@x.test", strong],
    ['mysql -u root -p§ shop', alnum(10)],
    ['requests.get(url, auth=("robin", "§"))', strong],
    ['ConvertTo-SecureString "§" -AsPlainText', strong],
    ['index-url = https://robin:§@pypi.x.test/simple', alnum(12)],
    ['machine x.test login robin password §', letters(14)],
    ['Server=db;User Id=sa;Password=§;', strong],
    ['DB_PASSWORD=§', strong],
  ];

  test.each(TEXTS)('%s', (text, secret) => {
    for (const draw of DRAWS) {
      const value = secret(draw);
      const [, later = ''] = redact(
        text.replace('§', () => value),
        `I found it: the value there is ${value}, as expected.`,
      );
      expect(later).not.toContain(JSON.stringify(value).slice(1, -1));
    }
  });
});

test.each([
  'apiVersion: v1\ndata:\n  shop.yaml: port-5432-and-more\nkind: ConfigMap\nmetadata:\n  name: shop\n---\nkind: Secret\n',
  '{"items":[{"data":{"a":"port-5432-and-more"},"kind":"ConfigMap"},{"kind":"Secret","data":{}}]}',
  'user,password,\nfirst_name,last_name,\n',
  'name | token count\n--- | ---\nshop | 5432\n',
  '    username, password, email,\n    first_name, last_name1, mail2,\n',
  'JWT_SECRET=<generate with openssl rand -hex 32>',
  '"pg-connection-string": ["pg-connection-string@2.9.1", "", {}, "sha512-abc"]',
  "The terminal's pwd: /home/dev/shop2/Checkout7x",
  'The shell says pwd: ~/Projects/shop2/build7, and stays there.',
  'The password for the new staging server is stored in the vault.',
  'use SHA256 as the password hash; use base64 as the password encoding',
  'Restored the cache of the API by key=3f2a9c1e58b74d609e2f7ac1b4d5e6f73f2a9c1e58b74d609e2f7ac1b4d5e6f7',
  'Sending a request with the cached hash, key=3f2a9c1e58b74d609e2f7ac1b4d5e6f73f2a9c1e58b74d609e2f7ac1b4d5e6f7',
  'const clientSecret = "/etc/secrets/client-2.pem";',
  ...[
    'GET https://api.shop.test/v1/cart\n{"key": "§"}',
    'The API has tabs: <Tab key="§">',
    '{"meta":"API v2","data":[{"key":"§"}]}',
  ].map((text) => text.replace('§', madeUuid(1))),
])('%s is left as it is', (text) => {
  expect(redact(text)[0]).toContain(JSON.stringify(text).slice(1, -1));
});
