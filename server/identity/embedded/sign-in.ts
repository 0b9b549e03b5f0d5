import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { verificationLetter } from '../letters.ts';
import { findAccountByEmail, hasAccounts, insertAccount } from './accounts.ts';
import { fromAddress, takeGuess } from './attempts.ts';
import { fieldOf, refuseEmail, refusePassword } from './form.ts';
import { mailLink } from './links.ts';
import { sendPage } from './page.ts';
import { type Pages, tooMany } from './pages.ts';
import { messagePage, noAccountPage, signInPage, signUpPage } from './views.ts';

interface Place {
  Params: { uid: string };
}
type Request = FastifyRequest<Place>;

/** The page to which the provider sends whoever is to be signed in, and the one for a new account beside it. */
export function signInRoutes(app: FastifyInstance, pages: Pages): void {
  const { db, provider, addresses, passwords, attempts, browsers, signUp, sendMail, log, now } = pages;
  const signUpUrl = (uid: string) => `${addresses.signIn(uid)}/sign-up`;
  const forgotUrl = `${addresses.path}/forgot`;

  /** The authorization request that waits for this browser, known by its cookie; undefined when it has expired. */
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

  async function finish(request: Request, reply: FastifyReply, accountId: string) {
    const result = { login: { accountId, remember: true } };
    const options = { mergeWithLastSubmission: false };
    return reply.redirect(await (await provider()).interactionResult(request.raw, reply.raw, result, options), 303);
  }

  app.get<Place>('/sign-in/:uid', async (request, reply) => {
    const interaction = await findInteraction(request, reply);
    if (!interaction) return sendExpired(reply);
    if (interaction.prompt.name === 'consent') {
      // A client may ask for the question to be asked; there is none to ask.
      const returnTo = await (await provider()).interactionResult(request.raw, reply.raw, { consent: {} });
      return reply.redirect(returnTo, 303);
    }
    if (signUp === 'invited' && !(await hasAccounts(db)))
      return sendPage(reply, addresses, noAccountPage(addresses.home));
    const hint = interaction.params.login_hint;
    return showSignIn(request, reply, typeof hint === 'string' ? hint : undefined);
  });

  app.post<Place>('/sign-in/:uid', async (request, reply) => {
    if (!(await findInteraction(request, reply))) return sendExpired(reply);
    const [email, password] = [fieldOf(request, 'email').trim(), fieldOf(request, 'password')];
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
    browsers.remember(reply, account);
    return finish(request, reply, account.account_id);
  });

  if (signUp !== 'open') return;

  app.get<Place>('/sign-in/:uid/sign-up', async (request, reply) =>
    (await findInteraction(request, reply)) ? showSignUp(request, reply) : sendExpired(reply),
  );

  app.post<Place>('/sign-in/:uid/sign-up', async (request, reply) => {
    if (!(await findInteraction(request, reply))) return sendExpired(reply);
    const [email, password] = [fieldOf(request, 'email').trim(), fieldOf(request, 'password')];
    const wait = await attempts.take(...fromAddress(request.ip));
    if (wait > 0) return showSignUp(request, reply, email, tooMany(reply, wait), 429);
    const refusal = refuseEmail(email) ?? refusePassword(password, email);
    if (refusal !== undefined) return showSignUp(request, reply, email, refusal, 422);
    const hash = await passwords.hash(password, { address: request.ip, isKnown: false });
    const accountId = await insertAccount(db, { email, emailVerified: false, password: hash }, now());
    if (accountId === undefined) {
      const taken = 'No account can be created with this e-mail. Sign in instead, or set a new password.';
      return showSignUp(request, reply, email, taken, 422);
    }
    await mailLink(db, 'invitation', email, now(), (token) =>
      sendMail(verificationLetter(email, addresses.link('join', token))),
    ).catch((error: unknown) => log.error({ err: error }, 'a mail could not be sent'));
    return finish(request, reply, accountId);
  });
}
