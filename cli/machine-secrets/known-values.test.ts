import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { made } from '../../redact/test/made.ts';
import { createKnownValues, type KnownValuesOptions } from './known-values.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'known-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}

function learn(options: KnownValuesOptions) {
  const everywhere: string[] = [];
  const below: { [root: string]: string[] } = {};
  const open = createKnownValues(options, (value, root) => {
    if (root !== undefined) below[root] ??= [];
    const values = root === undefined ? everywhere : (below[root] ?? []);
    if (!values.includes(value)) values.push(value);
    return true;
  });
  return { everywhere, below, open };
}

const one = made('alnum', 24, 1);
const two = made('alnum', 24, 2);
const three = made('alnum', 24, 3);

test('secrets of the environment are taken by their names, and harmless values are left', () => {
  const variables = {
    MY_API_KEY: one,
    SESSION_SECRET: `p@ss ${two}`,
    DATABASE_URL: `postgres://app:${three}%21x@db:5432/app`,
    AUTH_MODE: 'oauth-personal',
    SSH_AUTH_SOCK: '/tmp/ssh-abc/agent.123',
    TOKEN_URL: 'https://auth.test/token',
    SECRET_STAGE: 'development',
    GIT_AUTHOR_NAME: 'Anna Maria van der Berg',
    GIT_AUTHOR_EMAIL: 'anna.berg2@mail.test',
    SMTP_AUTH_USER: 'anna.berg2@mail.test',
    CACHE_KEY: 'true',
    PASSWORD_FILE: '/run/secrets/password1',
    PWD: '/home/ada/pässwörd 1',
    API_TOKEN: '<your-token-1>',
    PATH: `/usr/bin:${made('alnum', 30)}`,
  };
  expect(learn({ variables, home }).everywhere.sort()).toEqual(
    [one, `p@ss ${two}`, `${three}%21x`, `${three}!x`].sort(),
  );
});

test.each([
  ['.npmrc', `//registry.test/:_authToken=${one}\n_auth=${Buffer.from(`ada:${two}`).toString('base64')}`, [one, two]],
  ['.aws/credentials', `[default]\naws_access_key_id = AKIA1\naws_secret_access_key = ${one}\n`, [one]],
  ['.netrc', `machine x login ada password ${one}\nmachine y\n  login b\n  password ${two}`, [one, two]],
  ['.config/gh/hosts.yml', `github.com:\n    user: ada\n    oauth_token: ${one}\n`, [one]],
  [
    '.docker/config.json',
    JSON.stringify({ auths: { x: { auth: Buffer.from(`ada:${one}`).toString('base64') } } }),
    [one],
  ],
  ['.kube/config', `users:\n- name: a\n  user:\n    token: ${one}\n    password: "${two}"\n`, [one, two]],
  [
    '.config/gcloud/application_default_credentials.json',
    JSON.stringify({ client_secret: one, refresh_token: two }),
    [one, two],
  ],
  ['.pypirc', `[pypi]\nusername = __token__\npassword = ${one}\n`, [one]],
  ['.git-credentials', `https://ada:${one}@git.test\n`, [one]],
  ['.pgpass', `db:5432:app:ada:${one}\n`, [one]],
  ['.vault-token', `${one}\n`, [one]],
  ['.m2/settings.xml', `<server><username>ada</username><password>${one}</password></server>`, [one]],
])('reads %s', (path, text, expected) => {
  write(path, text);
  const values = learn({ variables: {}, home }).everywhere;
  for (const value of expected) expect(values).toContain(value);
});

test.each([
  ['JSON', JSON.stringify({ OPENAI_API_KEY: one, tokens: { access_token: two } })],
  ['pairs', `[model_providers.own]\napi_key = "${one}"\nauth_token = "${two}"\n`],
])("a file of %s with an agent's credentials is read", (_kind, text) => {
  write('.agent/auth', text);
  const credentials = [join(home, '.agent', 'auth'), join(home, '.agent', 'none')];
  expect(learn({ variables: {}, home, credentials }).everywhere).toEqual(expect.arrayContaining([one, two]));
  expect(learn({ variables: {}, home }).everywhere).toEqual([]);
});

test("the .env files of a folder, of its packages and up to the repository's root are read", () => {
  write('shop/.git/HEAD', '');
  write(
    'shop/.env',
    `A_TOKEN=${one}\nPORT=3000\nMODE='development'\nMODEL=gpt-5.1-codex-max-2025-11-20\nCOMMIT=${made('hex', 40)}\n`,
  );
  write('shop/apps/web/.env.local', `export B_SECRET="${two}" # used by the shop\n`);
  write('shop/apps/web/.env.example', `C_SECRET=${made('alnum', 24, 9)}\n`);
  write('shop/apps/web/api/.env', `D_KEY='${three}'\n`);
  const { everywhere, below, open } = learn({ variables: {}, home });
  const root = join(home, 'shop');
  expect(open(join(root, 'apps/web'))).toBe(root);
  expect(below[root]?.sort()).toEqual([one, two, three].sort());
  expect(everywhere).toEqual([]);
});

test('a folder outside of any repository counts as its own repository, and its parents below the home folder are read', () => {
  write('work/.env', `A_TOKEN=${one}\n`);
  write('work/shop/.env', `A_TOKEN=${two}\n`);
  write('.git/HEAD', '');
  const { below, open } = learn({ variables: {}, home });
  expect(open(join(home, 'work/shop'))).toBe(join(home, 'work/shop'));
  expect(below).toEqual({ [join(home, 'work/shop')]: [two, one] });
  expect(open(home)).toBeUndefined();
});

test("program text is not a secret, whatever name a repository's .env gives it", () => {
  write(
    'shop/.env',
    ['rm -rf / --no', 'const result = ', 'f(x)[1];', one].map((value) => `A_TOKEN="${value}"\n`).join(''),
  );
  const { below, open } = learn({ variables: {}, home });
  open(join(home, 'shop'));
  expect(Object.values(below)).toEqual([[one]]);
});

test('the password in an address of a .env is a separate secret', () => {
  write(
    'shop/.env',
    `DATABASE_URL="postgresql://app:${one}@db.test:5432/app?schema=public"\nREDIS_URL=redis://:${two}@r\n`,
  );
  const { below, open } = learn({ variables: {}, home });
  open(join(home, 'shop'));
  expect(Object.values(below)).toEqual([[one, two]]);
});

test('a repository adds only a limited amount of secrets', () => {
  write('shop/.env', Array.from({ length: 3000 }, (_, index) => `A_TOKEN=${made('alnum', 40, index)}\n`).join(''));
  const { below, open } = learn({ variables: {}, home });
  open(join(home, 'shop'));
  expect(Object.values(below).flat().join('').length).toBeLessThanOrEqual(65_536);
});

test('files are read again after a while, and no secret is forgotten', () => {
  let time = 0;
  write('shop/.env', `A_TOKEN=${one}\n`);
  const { everywhere, below, open } = learn({ variables: {}, home, now: () => time });
  const shop = join(home, 'shop');
  open(shop);
  write('shop/.env', `A_TOKEN=${two}\n`);
  write('.netrc', `machine x password ${three}`);
  open(shop);
  expect(below[shop]).toEqual([one]);
  time = 60_000;
  open(shop);
  expect(below[shop]).toEqual([one, two]);
  expect(everywhere).toEqual([three]);
});

test('a value that is part of a path in use is not a secret', () => {
  const folder = join(home, 'Geheim-2024x');
  expect(learn({ variables: { A_PASSWORD: 'Geheim-2024x' }, home: folder }).everywhere).toEqual([]);
});
