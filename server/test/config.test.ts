import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, OPTIONS, readConfig } from '../config.ts';

function problemsOf(variables: Record<string, string>): readonly string[] {
  try {
    readConfig(variables);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
  }
  return [];
}

/** Values that are refused, with their error messages. */
const WRONG: [name: string, value: string, says: RegExp][] = [
  ['PORT', 'http', /^PORT must be a whole number/],
  ['PORT', '-1', /^PORT must be a whole number/],
  ['PORT', '65536', /^PORT must be a port/],
  ['OPERATIONS_PORT', '70000', /^OPERATIONS_PORT must be a port/],
  ['RATE_LIMIT_SECRET', '1.5', /^RATE_LIMIT_SECRET must be a whole number/],
  ['BACKUP_KEEP', '0', /^BACKUP_KEEP must be a whole number, 1 or more/],
  ['DATABASE_URL', 'mysql://x', /^DATABASE_URL must be an address starting with postgres:\/\//],
  ['PUBLIC_URL', 'capture.example.com', /^PUBLIC_URL must be an address starting with http:\/\//],
  ['PUBLIC_URL', 'https://capture.example.com?a=b', /^PUBLIC_URL must have no query/],
  ['PUBLIC_URL', 'https://capture.example.com/?', /^PUBLIC_URL must have no query/],
  ['PUBLIC_URL', 'https://capture.example.com/#top', /^PUBLIC_URL must have no query and no fragment/],
  ['PUBLIC_URL', 'https://user@capture.example.com', /^PUBLIC_URL must name no user and no password/],
  ['PUBLIC_URL', 'https://:secret@capture.example.com', /^PUBLIC_URL must name no user and no password/],
  ['PUBLIC_URL', 'https://capture\n.example.com', /^PUBLIC_URL must have no line breaks, blanks or control/],
  ['PUBLIC_URL', 'https://capture.example.com/a b', /^PUBLIC_URL must have no line breaks, blanks or control/],
  ['PUBLIC_URL', 'https://capture.example.com/\u202ea', /^PUBLIC_URL must have no line breaks, blanks or control/],
  ['PUBLIC_URL', 'https://capture.example.com//evil.example.com', /^PUBLIC_URL must have a path of letters/],
  ['PUBLIC_URL', 'https://capture.example.com/a;path=', /^PUBLIC_URL must have a path of letters/],
  ['PUBLIC_URL', 'https://capture.example.com/a"b', /^PUBLIC_URL must have a path of letters/],
  ['PUBLIC_URL', 'https://capture.example.com/caf%C3%A9', /^PUBLIC_URL must have a path of letters/],
  ['PUBLIC_URL', 'ftp://capture.example.com', /^PUBLIC_URL must be an address starting with http:\/\//],
  ['SMTP_URL', 'mail.example.com', /^SMTP_URL must be an address starting with smtp:\/\/ or smtps:\/\//],
  ['MAIL_FROM', 'Session Capture <capture@example.com>', /^MAIL_FROM must be an e-mail address/],
  ['ADOPT_MEMBERS', 'yes', /^ADOPT_MEMBERS must be one of off, verified-email/],
  ['IDENTITY_PROVIDER', 'ldap', /^IDENTITY_PROVIDER must be one of embedded, oidc, cognito/],
  ['IDENTITY_PROVIDER', 'oidc', /^OIDC_ISSUER is needed/],
  ['OIDC_EMAIL_CLAIM', 'sub', /^OIDC_EMAIL_CLAIM must be one of email, preferred_username, upn/],
  ['OIDC_TRUST_EMAIL', 'yes', /^OIDC_TRUST_EMAIL must be one of off, issuer/],
  ['OIDC_ISSUER', 'https://login.microsoftonline.com/common/v2.0', /^OIDC_ISSUER must name one tenant by its id/],
  [
    'OIDC_ISSUER',
    'https://login.microsoftonline.us/contoso.example/v2.0',
    /^OIDC_ISSUER must name one tenant by its id/,
  ],
  ['IDENTITY_PROVIDER', 'cognito', /^COGNITO_USER_POOL_ID is needed/],
  ['COGNITO_USER_POOL_ID', 'people', /^COGNITO_USER_POOL_ID must be the id of a user pool, such as eu-central-1_/],
  ['SIGN_UP', 'yes', /^SIGN_UP must be one of/],
  ['LOG_LEVEL', 'verbose', /^LOG_LEVEL must be one of/],
  ['SECRET_PEPPER_FILE', '/nowhere/pepper', /^SECRET_PEPPER cannot be read: there is no file/],
];

describe('the configuration', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'capture-config-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('has a default for every option, and an empty value means the default', () => {
    const defaults = Object.fromEntries(Object.entries(OPTIONS).map(([name, option]) => [name, option.default]));
    expect(readConfig({})).toEqual(defaults);
    expect(readConfig(Object.fromEntries(Object.keys(OPTIONS).map((name) => [name, ''])))).toEqual(defaults);
  });

  test('is read from environment variables', () => {
    const config = readConfig({
      PORT: '0',
      PUBLIC_URL: 'https://capture.example.com/',
      DATABASE_URL: 'postgres://user@host/db',
      RATE_LIMIT_USER: '0',
      CORS_ORIGINS: 'https://a.example.com, https://b.example.com,',
      UNKNOWN: 'ignored',
    });
    expect(config).toMatchObject({
      PORT: 0,
      PUBLIC_URL: 'https://capture.example.com',
      DATABASE_URL: 'postgres://user@host/db',
      RATE_LIMIT_USER: 0,
      CORS_ORIGINS: ['https://a.example.com', 'https://b.example.com'],
    });
    expect(config).not.toHaveProperty('UNKNOWN');
  });

  test.each([
    ['https://capture.example.com/', 'https://capture.example.com'],
    ['https://Capture.Example.com:443/tools/', 'https://capture.example.com/tools'],
    ['http://127.0.0.1:4400', 'http://127.0.0.1:4400'],
    ['http://[::1]:4400', 'http://[::1]:4400'],
  ])('reads the public address %s as %s', (given, taken) => {
    expect(readConfig({ PUBLIC_URL: given }).PUBLIC_URL).toBe(taken);
  });

  test('reads any value from a file, without the line end', () => {
    const file = join(folder, 'pepper');
    writeFileSync(file, 'grains\n');
    expect(readConfig({ SECRET_PEPPER_FILE: file, SECRET_PEPPER: 'other' }).SECRET_PEPPER).toBe('grains');
    writeFileSync(file, '70000x');
    expect(problemsOf({ PORT_FILE: file })).toMatchObject([expect.stringMatching(/^PORT /)]);
  });

  test.each(WRONG)('%s=%s is refused', (name, value, says) => {
    expect(problemsOf({ [name]: value })[0]).toMatch(says);
  });

  test('accepts several servers of a bus, and a bus only together with PostgreSQL', () => {
    const DATABASE_URL = 'postgres://store/capture';
    const BUS_URL = 'nats://user:word@a:4222, tls://b:4222/';
    expect(readConfig({ DATABASE_URL, BUS_URL, ROLE: 'worker' })).toMatchObject({
      BUS_URL: 'nats://user:word@a:4222,tls://b:4222',
      ROLE: 'worker',
    });
    expect(problemsOf({ BUS_URL })).toEqual([expect.stringMatching(/^BUS_URL needs DATABASE_URL/)]);
    expect(problemsOf({ DATABASE_URL, BUS_URL: 'nats://a,http://b' })).toEqual([
      expect.stringMatching(/^BUS_URL must/),
    ]);
    expect(problemsOf({ DATABASE_URL, ROLE: 'worker' })).toEqual([expect.stringMatching(/^ROLE needs BUS_URL/)]);
  });

  test.each([
    'https://id.example.com/common/v2.0',
    'https://id.example.com/organizations/v2.0',
    'https://id.example.com/Consumers/v2.0/',
    'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    'https://login.microsoftonline.com/F8CDEF31-a31e-4b4a-93e4-5f571e91255a/v2.0',
    'https://accounts.google.com',
  ])('trusts no e-mail of %s, where people of many companies have accounts', (OIDC_ISSUER) => {
    const variables = { IDENTITY_PROVIDER: 'oidc', OIDC_CLIENT_ID: 'dashboard', OIDC_ISSUER };
    const shared = expect.stringMatching(/^OIDC_TRUST_EMAIL=issuer is for an issuer that one company administers/);
    expect(problemsOf({ ...variables, OIDC_TRUST_EMAIL: 'issuer' })).toEqual([shared]);
    expect(problemsOf({ ...variables })).toEqual([]);
  });

  test('trusts the e-mails of one tenant, unless anyone may sign up there', () => {
    const OIDC_ISSUER = 'https://login.microsoftonline.com/11112222-3333-4444-8555-666677778888/v2.0';
    const variables = {
      IDENTITY_PROVIDER: 'oidc',
      OIDC_CLIENT_ID: 'dashboard',
      OIDC_ISSUER,
      OIDC_TRUST_EMAIL: 'issuer',
    };
    expect(problemsOf(variables)).toEqual([]);
    const open = expect.stringMatching(/^OIDC_TRUST_EMAIL=issuer contradicts SIGN_UP=open/);
    expect(problemsOf({ ...variables, SIGN_UP: 'open' })).toEqual([open]);
  });

  test('reports every error at once', () => {
    const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'x', DATABASE_URL: 'x', IDENTITY_PROVIDER: 'oidc' });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'PORT',
      'DATABASE_URL',
      'LOG_LEVEL',
      'OIDC_ISSUER',
      'OIDC_CLIENT_ID',
    ]);
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'x' })).toThrow('2 problem(s)');
  });

  test('never repeats a refused value', () => {
    const problems = problemsOf({
      DATABASE_URL: 'mysql://user:hunter2@host',
      PUBLIC_URL: 'hunter2',
      SMTP_URL: 'http://user:hunter2@host',
    });
    expect(problems).toHaveLength(3);
    expect(problems.join()).not.toContain('hunter2');
  });
});
