import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Provider } from 'oidc-provider';
import type { Limits } from '../../limits.ts';
import { recordSignIn } from '../../store/people.ts';
import type { AccountRow, Db } from '../../store/schema.ts';
import type { SendMail } from '../mail.ts';
import { resetLetter, verificationLetter } from '../mail.ts';
import { findAccount, findAccountByEmail, hasAccounts, insertAccount } from './accounts.ts';
import type { Addresses } from './addresses.ts';
import { type Attempts, fromAddress, mayMail, takeGuess } from './attempts.ts';
import { fieldOf, refuseEmail, refusePassword, tooMany } from './form.ts';
import { sendPage } from './html.ts';
import type { KnownBrowsers } from './known-browser.ts';
import { mailLink } from './links.ts';
import type { Passwords } from './passwords.ts';
import { EMBEDDED, loginOf } from './tokens.ts';
import { forgotPage, forgotSentPage, messagePage, noAccountPage, signInPage, signUpPage } from './views.ts';

/** The dependencies of the provider's pages. */
export interface PageContext {
  db: Db;
  /** Loaded on first use: most processes sign nobody in for a while. */
  provider: () => Promise<Provider>;
  addresses: Addresses;
  passwords: Passwords;
  /** Counts passwords and mails. */
  attempts: Attempts;
  browsers: KnownBrowsers;
  signUp: 'invited' | 'open';
  /** Counts requests of any kind. */
  requests: Limits;
  sendMail: SendMail;
  log: FastifyBaseLogger;
  now: () => number;
}

interface Route {
  Params: { uid: string };
}
type Request = FastifyRequest<Route>;

/** The sign-in page of the provider, and the page for a new account. */
export function signInRoutes(app: FastifyInstance, context: PageContext): void {
  const { db, provider, addresses, passwords, attempts, browsers, signUp, sendMail, log, now } = context;
  const signUpUrl = (uid: string) => `${addresses.signIn(uid)}/sign-up`;
  const forgotUrl = `${addresses.path}/forgot`;

  /** This browser's pending authorization request, found by its cookie; undefined if it has expired. */
  async function findInteraction({ raw, params }: Request, reply: FastifyReply) {
    try {
      const interaction = await (await provider()).interactionDetails(raw, reply.raw);
      return interaction.uid === params.uid ? interaction : undefined;
    } catch (error) {
      if ((error as Error).name === 'SessionNotFound') return undefined;
      throw error;
    }
  }

  function sendExpired(reply: FastifyReply) {
    const next = { href: addresses.home, label: 'Start again' };
    return sendPage(reply, addresses, messagePage('This page has expired', 'Signing in took too long.', next), 400);
  }

  function showSignIn(request: Request, reply: FastifyReply, email?: string, error?: string, status?: number) {
    const { uid } = request.params;
    const view = { email, error, forgotUrl, signUpUrl: signUp === 'open' ? signUpUrl(uid) : undefined };
    return sendPage(reply, addresses, signInPage(view), status);
  }

  function showSignUp(request: Request, reply: FastifyReply, email?: string, error?: string, status?: number) {
    const view = { email, error, signInUrl: addresses.signIn(request.params.uid) };
    return sendPage(reply, addresses, signUpPage(view), status);
  }

  async function finish(request: Request, reply: FastifyReply, account: AccountRow) {
    const result = { login: { ...loginOf(account), remember: true } };
    const options = { mergeWithLastSubmission: false };
    return reply.redirect(await (await provider()).interactionResult(request.raw, reply.raw, result, options), 303);
  }

  app.get<Route>('/sign-in/:uid', async (request, reply) => {
    const interaction = await findInteraction(request, reply);
    if (!interaction) return sendExpired(reply);
    if (interaction.prompt.name === 'consent') {
      // A client may require the person's consent. The dashboard is our own client, so there is nothing to consent to.
      const returnTo = await (await provider()).interactionResult(request.raw, reply.raw, { consent: {} });
      return reply.redirect(returnTo, 303);
    }
    if (signUp === 'invited' && !(await hasAccounts(db)))
      return sendPage(reply, addresses, noAccountPage(addresses.home));
    const hint = interaction.params.login_hint;
    return showSignIn(request, reply, typeof hint === 'string' ? hint : undefined);
  });

  app.post<Route>('/sign-in/:uid', async (request, reply) => {
    if (!(await findInteraction(request, reply))) return sendExpired(reply);
    const email = fieldOf(request, 'email').trim();
    const password = fieldOf(request, 'password');
    const account = refuseEmail(email) === undefined ? await findAccountByEmail(db, email) : undefined;
    const browser = account && browsers.recognize(request, account);
    const { wait, succeed } = await takeGuess(attempts, email, { address: request.ip, browser });
    if (wait > 0) return showSignIn(request, reply, email, tooMany(reply, wait), 429);
    const requester = { address: request.ip, isKnown: browser !== undefined };
    const matches = await passwords.matches(password, account?.password, requester);
    if (!account || !matches) {
      log.info({ address: request.ip }, 'a sign-in was refused');
      return showSignIn(request, reply, email, 'E-mail and password do not match.', 422);
    }
    await succeed();
    await recordSignIn(db, { issuer: EMBEDDED, subject: account.account_id }, now());
    browsers.remember(reply, account);
    return finish(request, reply, account);
  });

  if (signUp !== 'open') return;

  app.get<Route>('/sign-in/:uid/sign-up', async (request, reply) =>
    (await findInteraction(request, reply)) ? showSignUp(request, reply) : sendExpired(reply),
  );

  app.post<Route>('/sign-in/:uid/sign-up', async (request, reply) => {
    if (!(await findInteraction(request, reply))) return sendExpired(reply);
    const email = fieldOf(request, 'email').trim();
    const password = fieldOf(request, 'password');
    const wait = await attempts.take(...fromAddress(request.ip));
    if (wait > 0) return showSignUp(request, reply, email, tooMany(reply, wait), 429);
    const refusal = refuseEmail(email) ?? refusePassword(password, email);
    if (refusal !== undefined) return showSignUp(request, reply, email, refusal, 422);
    const hash = await passwords.hash(password, { address: request.ip, isKnown: false });
    const accountId = await insertAccount(db, { email, emailVerified: false, password: hash }, now());
    const account = accountId === undefined ? undefined : await findAccount(db, accountId);
    if (!account) {
      const taken = 'No account can be created with this e-mail. Sign in instead, or set a new password.';
      return showSignUp(request, reply, email, taken, 422);
    }
    await mailLink(db, 'invitation', email, now(), (token) =>
      sendMail(verificationLetter(email, addresses.link('join', token))),
    ).catch((error: unknown) => log.error({ err: error }, 'a mail could not be sent'));
    return finish(request, reply, account);
  });
}

/** The page that requests a link to set a new password. The answer is the same whether or not the account exists. */
export function forgotRoutes(app: FastifyInstance, context: PageContext): void {
  const { db, addresses, attempts, browsers, sendMail, log, now } = context;

  async function sendLink(request: FastifyRequest, email: string): Promise<void> {
    const account = await findAccountByEmail(db, email);
    if (!account) return;
    const visitor = { address: request.ip, browser: browsers.recognize(request, account) };
    if (!(await mayMail(attempts, account.email, visitor))) return;
    await mailLink(db, 'password_reset', account.email, now(), (token) =>
      sendMail(resetLetter(account.email, addresses.link('reset', token))),
    );
  }

  const show = (reply: FastifyReply, email?: string, error?: string, status?: number) =>
    sendPage(reply, addresses, forgotPage(email, error), status);

  app.get('/forgot', async (_request, reply) => show(reply));

  app.post('/forgot', async (request, reply) => {
    const email = fieldOf(request, 'email').trim();
    const wait = await attempts.take(...fromAddress(request.ip));
    if (wait > 0) return show(reply, email, tooMany(reply, wait), 429);
    const refusal = refuseEmail(email);
    if (refusal !== undefined) return show(reply, email, refusal, 422);
    // Not awaited: the time to send a mail would reveal that the account exists.
    sendLink(request, email).catch((error: unknown) => log.error({ err: error }, 'a mail could not be sent'));
    return sendPage(reply, addresses, forgotSentPage(email));
  });
}
