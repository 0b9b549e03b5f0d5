import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AccountRow } from '../../store/schema.ts';
import { resetLetter } from '../letters.ts';
import { findAccountByEmail } from './accounts.ts';
import { fieldOf, refuseEmail } from './form.ts';
import { mailLink } from './links.ts';
import { sendPage } from './page.ts';
import { type Pages, tooMany } from './pages.ts';
import { forgotPage, forgotSentPage } from './views.ts';

/** Asks for a link that sets a new password. The answer is the same whether or not there is such an account. */
export function forgotRoutes(app: FastifyInstance, pages: Pages): void {
  const { db, addresses, limits, browsers, sendMail, log, now } = pages;

  async function sendLink(request: FastifyRequest, email: string): Promise<void> {
    const account = await findAccountByEmail(db, email);
    if (!account || !(await mayMail(request, account))) return;
    await mailLink(db, 'password_reset', account.email, now(), (token) =>
      sendMail(resetLetter(account.email, addresses.link('reset', token))),
    );
  }

  /** What strangers ask for must not use up what the person may ask for. */
  async function mayMail(request: FastifyRequest, account: AccountRow): Promise<boolean> {
    const browser = browsers.recognize(request, account);
    if ((await limits.mail.take(`${account.email_key} ${browser ?? request.ip}`)) > 0) return false;
    return browser !== undefined || (await limits.mailbox.take(account.email_key)) === 0;
  }

  const show = (reply: FastifyReply, email?: string, error?: string, status?: number) =>
    sendPage(reply, addresses, forgotPage(email, error), status);

  app.get('/forgot', async (_request, reply) => show(reply));

  app.post('/forgot', async (request, reply) => {
    const email = fieldOf(request, 'email').trim();
    const wait = await limits.address.take(request.ip);
    if (wait > 0) return show(reply, email, tooMany(reply, wait), 429);
    const refusal = refuseEmail(email);
    if (refusal !== undefined) return show(reply, email, refusal, 422);
    // Not waited for: the time to write a mail would tell that there is an account.
    sendLink(request, email).catch((error: unknown) => log.error({ err: error }, 'a mail could not be sent'));
    return sendPage(reply, addresses, forgotSentPage(email));
  });
}
