import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterEach, describe, expect, test } from 'vitest';
import { createSmtp } from '../mail.ts';
import { createFirstAccount, type Service, startService, tokensOf } from './embedded.ts';

const MAIL = { to: 'bob@example.com', subject: 'Grüße', text: 'Öffne https://capture.example.com/?a=b' };
const FROM = 'capture@example.com';
const USER = 'mailer@example.com';
const WORD = 'p@ss/wörd:1';

interface Received {
  from: string;
  to: string[];
  text: string;
  encrypted: boolean;
  user: string | undefined;
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/**
 * A mail server with its own self-signed certificate. It keeps the mails that it receives. `refuse` is its answer to a
 * recipient.
 */
async function startServer(
  options: { secure?: boolean; plain?: boolean; authOptional?: boolean; refuse?: string } = {},
) {
  const received: Received[] = [];
  const { plain, refuse, ...rest } = options;
  const server = new SMTPServer({
    ...rest,
    disabledCommands: plain ? ['STARTTLS'] : [],
    allowInsecureAuth: plain ?? false,
    onAuth: ({ username, password }, _session, done) =>
      username === USER && password === WORD ? done(null, { user: username }) : done(new Error('wrong password')),
    onRcptTo: (_address, _session, done) => done(refuse === undefined ? null : new Error(refuse)),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          text: Buffer.concat(chunks).toString('utf8').replace(/=\r\n/g, '').replaceAll('=3D', '='),
          encrypted: session.secure,
          user: session.user as string | undefined,
        });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve());
  });
  closing.push(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  const login = `${encodeURIComponent(USER)}:${encodeURIComponent(WORD)}@`;
  const urlOf = (scheme: string, user = login, query = 'tls.rejectUnauthorized=false') =>
    `${scheme}://${user}127.0.0.1:${port}?${query}`;
  return { received, urlOf };
}

const smtp = (url: string, timeoutMs?: number) =>
  createSmtp({ url, from: FROM, now: Date.now, ...(timeoutMs && { timeoutMs }) });

describe('a mail server', () => {
  test.each([
    ['smtp', 'by STARTTLS', {}],
    ['smtps', 'from the first byte', { secure: true }],
  ])('at %s:// receives the mail encrypted %s, from a user with a password', async (scheme, _how, options) => {
    const { received, urlOf } = await startServer(options);
    await smtp(urlOf(scheme))(MAIL);
    expect(received).toEqual([
      { from: FROM, to: [MAIL.to], text: expect.stringContaining('?a=b'), encrypted: true, user: USER },
    ]);
    expect(received[0]?.text).toMatch(/^From: Session Capture <capture@example.com>\r$/m);
    expect(received[0]?.text).toMatch(/^To: bob@example.com\r$/m);
  });

  test('without a password may be unencrypted', async () => {
    const { received, urlOf } = await startServer({ plain: true, authOptional: true });
    await smtp(urlOf('smtp', ''))(MAIL);
    expect(received).toMatchObject([{ encrypted: false, user: undefined }]);
  });

  test('without encryption does not receive the password, unless the operator allows it', async () => {
    const { received, urlOf } = await startServer({ plain: true });
    await expect(smtp(urlOf('smtp'))(MAIL)).rejects.toThrow(/STARTTLS/);
    expect(received).toEqual([]);
    await smtp(urlOf('smtp', undefined, 'requireTLS=false'))(MAIL);
    expect(received).toMatchObject([{ encrypted: false, user: USER }]);
  });

  test('with an untrusted certificate receives nothing', async () => {
    const { received, urlOf } = await startServer();
    await expect(smtp(urlOf('smtp', undefined, ''))(MAIL)).rejects.toThrow(/certificate/);
    expect(received).toEqual([]);
  });

  test('that refuses the password or the recipient causes an error without the password', async () => {
    const wrong = await startServer();
    const error = await smtp(wrong.urlOf('smtp', `${encodeURIComponent(USER)}:hunter2@`))(MAIL).catch((cause) => cause);
    expect(error).toBeInstanceOf(Error);
    expect(JSON.stringify([error, (error as Error).message])).not.toContain('hunter2');
    const refusing = await startServer({ refuse: 'no such mailbox' });
    await expect(smtp(refusing.urlOf('smtp'))(MAIL)).rejects.toThrow(/no such mailbox/);
  });

  test('that never answers is given up', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve);
    });
    closing.push(async () => void silent.close());
    const { port } = silent.address() as AddressInfo;
    await expect(smtp(`smtp://127.0.0.1:${port}`, 200)(MAIL)).rejects.toThrow();
  });
});

describe('the service with a mail server', () => {
  let service: Service;
  afterEach(() => service.dispose());

  async function start(SMTP_URL: string) {
    service = await startService('sqlite', { SMTP_URL, MAIL_FROM: FROM });
    const { id_token } = await tokensOf(service, await createFirstAccount(service, 'ada@example.com'));
    return async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${id_token}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(`${service.origin}${path}`, init);
      return { status: response.status, text: await response.text() };
    };
  }

  test('mails an invitation, and writes nothing to the outbox', async () => {
    const { received, urlOf } = await startServer();
    const call = await start(urlOf('smtp'));
    await call('POST', '/v1/organizations', { name: 'Acme' });
    expect(await call('POST', '/v1/organizations/me/members', { email: MAIL.to })).toMatchObject({ status: 201 });
    const link = /https?:\/\/\S+/.exec(received[0]?.text ?? '')?.[0] ?? '';
    expect(await service.browser().open(link)).toMatchObject({ status: 200 });
    expect(() => service.mails()).toThrow(/ENOENT/);
  });

  test('that refuses an invitation answers 502, and leaves no invitation and no link', async () => {
    const call = await start((await startServer({ refuse: 'no such mailbox' })).urlOf('smtp'));
    await call('POST', '/v1/organizations', { name: 'Acme' });
    const refused = await call('POST', '/v1/organizations/me/members', { email: MAIL.to });
    expect(refused).toMatchObject({ status: 502, text: expect.stringContaining('idp_invite_failed') });
    expect((await call('GET', '/v1/organizations/me/members')).text).not.toContain(MAIL.to);
    const links = service.store.db.selectFrom('links').select('token_hash').where('purpose', '=', 'invitation');
    expect(await links.execute()).toEqual([]);
  });

  test('that refuses a mail for a new password logs a line, and the page does not mention it', async () => {
    await start((await startServer({ refuse: 'no such mailbox' })).urlOf('smtp'));
    const browser = service.browser();
    const answer = await browser.submit(await browser.open('/oidc/forgot'), { email: 'ada@example.com' });
    expect(answer.status).toBe(200);
    await expect.poll(() => service.logged.join()).toContain('a mail could not be sent');
    expect(service.logged.join()).not.toContain(encodeURIComponent(WORD));
  });
});

test.each([
  ['keeps its mails', {}, true],
  ['sends its mails', { SMTP_URL: 'smtp://127.0.0.1:1' }, undefined],
] as const)('the service knows that it %s', async (_, config, keepsMails) => {
  const service = await startService('sqlite', config);
  expect(service.identity.keepsMails).toBe(keepsMails);
  await service.dispose();
});

test.each([
  ['postgres', {}, true],
  ['postgres', { SMTP_URL: 'smtp://127.0.0.1:1' }, false],
  ['sqlite', {}, false],
] as const)('on %s with %j the log warns about separate outboxes of replicas: %s', async (engine, config, warned) => {
  const service = await startService(engine, config);
  expect(service.logged.some((line) => line.includes('SMTP_URL is not set'))).toBe(warned);
  await service.dispose();
});
