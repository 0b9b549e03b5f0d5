import { expect, test } from 'vitest';
import { redactOne } from '../cli/test/redacting.ts';
import { createRedactor } from './redactor.ts';

const redactor = createRedactor({ key: new Uint8Array(32) });
const source = { agent: 'codex', session: 's-1', file: 'a.jsonl', position: 0 };
let sessions = 0;

/** Each call has its own session, so that no call masks the secrets of another. */
const redact = (rest: unknown) =>
  redactOne(redactor, { eventType: 'record', payload: { source, rest } }, { session: `codex ${++sessions}` }).payload
    .rest;

test.each([
  ['password', 'МояЛюбимаяСобака2024'],
  ['password', 'МояСобака'],
  ['password', 'Пароль-2024-Секрет!'],
  ['password', 'Schlüsselbund'],
  ['password', 'Grün-Tee 42'],
  ['password', 'Über sieben Brücken'],
  ['password', 'Purple-Monkey-Dishwasher'],
  ['password', 'Hello-world.com'],
  ['password', '{s3cr3t}'],
  ['password', 'correct horse battery staple 2024!'],
  ['password', 'MeinPasswort'],
  ['password', 'Passwort!'],
  ['password', 'Passwort.'],
  ['password', 'senhas'],
  ['password', 'ПарольЛюбимый'],
  ['password', 'passe partout'],
  ['password', 'arn:hunter2'],
  ['POSTGRES_PASSWORD', 'Kings-Landing'],
  ['password_confirmation', 'hunter2'],
  ['Database password:', 'Winter2024!'],
  ['Database password:', 'my little pony'],
  ['Password for ada: ', 'Sommer2024'],
  ['Wi-Fi password for guest network', 'hunter2-blue'],
  ['access_token', 'Letmein'],
  ['secret', 'hunter'],
  ['secret', 'Correct-Horse'],
  ['client_secret', 'Bananas'],
  ['Secret', 'correct horse'],
  ['client_secret', '我爱北京天安门'],
  ['client_secret', 'Schlüsselbund'],
  ['我的token', 'zu7Gh38hfKq29dkLmQp20'],
  ['访问api_key', 'zu7Gh38hfKq29dkLmQp20'],
  ['访问api_key', 'Hunter2-zq'],
  ['password_selector', 'Hunter2-zq'],
])('{%j: %j} is masked, also in JSON text', (name, value) => {
  for (const rest of [{ [name]: value }, { line: JSON.stringify({ [name]: value }) }])
    expect(JSON.stringify(redact(rest))).not.toContain(value);
});

test.each([
  ['password', 'Passwort'],
  ['Password', 'Senha'],
  ['password', 'Mot de passe'],
  ['password', 'Mot de passe :'],
  ['password', 'Введите пароль'],
  ['password', 'Пароль'],
  ['password', 'Введите новый пароль'],
  ['password', 'Jelszó'],
  ['password', 'Le mot de passe est erroné'],
  ['password', '旧パスワード'],
  ['password', '密码不正确。'],
  ['New Password', 'Nuova password'],
  ['password.short', 'The password is too short'],
  ['API tokens', 'API-Token verwalten'],
  ['Secret', '鍵を更新'],
  ['Are you sure you would like to delete this API token?', 'Crear o borrar 2 API'],
])('{%j: %j} is a label', (name, value) => expect(redact({ [name]: value })).toEqual({ [name]: value }));

test.each([
  ['password: "§"', 'correct/horse?battery'],
  ["password: '§'", 'abc,def,ghij'],
  ['<password>§</password>', 'Schlüsselbund'],
  ['client_secret = "§"', 'Über-Straße'],
  ['API_TOKEN = "§"', 'aB{}9xKq27Zp41Wm'],
  ['password = "§"', '.login(9a'],
  ['password = "§"', '/^x1kJ9!w'],
  ['//registry.npmjs.org/:_password=§', 'hunter-lake-stone'],
  ["CREATE DATABASE LINK l CONNECT TO ada IDENTIFIED BY § USING 'db'", 'Winter2024'],
  ['GRANT CONNECT TO scott IDENTIFIED BY §;', 'Winter2024'],
  ['CREATE ROLE r IDENTIFIED BY §', 'Winter2024'],
  ['IDENTIFIED BY §', 'hunter2'],
])('in text, too: %s with %s', (text, value) => {
  expect(redact({ line: text.replace('§', () => value) })).not.toContain(value);
  expect(JSON.stringify(redact({ line: text.replace('§', () => value) }))).toContain('[REDACTED:');
});

const uuid = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

test.each([
  `curl -H "Idempotency-Key: ${uuid}" https://x.test`,
  `{"idempotencyKey": "${uuid}"}; tenant_key: ${uuid}, order_key: ${uuid}, issue_key: ${uuid}`,
  `shard_key="${uuid}", request_key: ${uuid}, customer_key: "${uuid}", answer_key: ${uuid}`,
  'blob_key: da39a3ee5e6b4b0d3255bfef95601890afd80709',
  'password is bcrypt12 hashed, the password is argon2id, the password is base64-encoded',
  'password: "パスワードを入力してください"',
])('%s is left as it is', (text) => expect(redact({ line: text })).toEqual({ line: text }));
