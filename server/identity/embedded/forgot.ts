import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { resetLetter } from '../letters.ts';
import { findAccountByEmail } from './accounts.ts';
import { fromAddress, mayMail } from './attempts.ts';
import { fieldOf, refuseEmail } from './form.ts';
import { mailLink } from './links.ts';
import { sendPage } from './page.ts';
import { type Pages, tooMany } from './pages.ts';
import { forgotPage, forgotSentPage } from './views.ts';

/** Asks for a link that sets a new password. The answer is the same whether or not there is such an account. */
export function forgotRoutes(app: FastifyInstance, pages: Pages): void {
  const { db, addresses, attempts, browsers, sendMail, log, now } = pages;

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
    // Not waited for: the time to write a mail would tell that there is an account.
    sendLink(request, email).catch((error: unknown) => log.error({ err: error }, 'a mail could not be sent'));
    return sendPage(reply, addresses, forgotSentPage(email));
  });
}
