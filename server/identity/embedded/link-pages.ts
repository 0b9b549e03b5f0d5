import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findProof, listInvitationsOf } from '../../store/invitations.ts';
import { recordSignIn } from '../../store/people.ts';
import type { AccountRow, Db, LinkRow } from '../../store/schema.ts';
import { asService } from '../../store/tenant.ts';
import {
  findAccount,
  findAccountByEmail,
  hasAccounts,
  insertAccount,
  lockFirstAccount,
  removeAccount,
  resetPassword,
} from './accounts.ts';
import type { LinkPage } from './addresses.ts';
import { fromAddress } from './attempts.ts';
import { startSession } from './browser-session.ts';
import { fieldOf, refuseEmail, refusePassword, tooMany } from './form.ts';
import { type Page, sendPage } from './html.ts';
import { dropFirstAccountLinks, findLink, type Purpose, spendLink } from './links.ts';
import type { PageContext } from './sign-in.ts';
import { EMBEDDED } from './tokens.ts';
import { joinPage, type LinkView, messagePage, resetPage, welcomePage } from './views.ts';

interface NewPassword {
  email: string;
  /** Encoded hash. */
  password: string;
}

interface LinkKind {
  purpose: Purpose;
  view: (view: LinkView, action: string) => Page;
  /** The names of the organizations that invited the holder. */
  invitedTo?: (db: Db, email: string) => Promise<string[]>;
  /** The reason if the link no longer has a use. */
  pointless: (db: Db, link: LinkRow) => Promise<string | undefined>;
  /** Called before the link is spent, in the same transaction. */
  begin?: (db: Db) => Promise<void>;
  /** @returns the account that is now signed in, or undefined if the e-mail belongs to somebody else */
  use: (db: Db, form: NewPassword, now: number) => Promise<string | undefined>;
}

const KINDS: Record<LinkPage, LinkKind> = {
  welcome: {
    purpose: 'first_account',
    view: welcomePage,
    pointless: async (db) => ((await hasAccounts(db)) ? 'The first account has been created already.' : undefined),
    begin: lockFirstAccount,
    async use(db, form, now) {
      if (await hasAccounts(db)) return undefined;
      const accountId = await insertAccount(db, { ...form, emailVerified: true }, now);
      await dropFirstAccountLinks(db);
      return accountId;
    },
  },
  join: {
    purpose: 'invitation',
    view: joinPage,
    // The link was mailed to this address, so its holder may know who invited the address.
    invitedTo: async (db, email) => {
      const proof = await findProof(db, { email, emailVerified: true });
      const offers = await asService(() => listInvitationsOf(db, proof));
      return offers.map(({ name }) => name);
    },
    async pointless(db, { email }) {
      const account = await findAccountByEmail(db, email ?? '');
      return account?.email_verified === 1 ? `You have an account for ${email}. Sign in to join.` : undefined;
    },
    async use(db, form, now) {
      const account = await findAccountByEmail(db, form.email);
      return account?.email_verified === 1 ? undefined : proveAccount(db, form, account, now);
    },
  },
  reset: {
    purpose: 'password_reset',
    view: resetPage,
    pointless: async () => undefined,
    async use(db, form, now) {
      const account = await findAccountByEmail(db, form.email);
      if (account?.email_verified === 0) return proveAccount(db, form, account, now);
      return account && setPassword(db, account.account_id, form.password, now);
    },
  },
};

async function setPassword(db: Db, accountId: string, password: string, now: number): Promise<string> {
  await resetPassword(db, accountId, password, now);
  return accountId;
}

/**
 * Creates the account of the holder of a mailed link. A stranger may have created an account with this e-mail, to wait until its
 * owner comes. So an unproven account does not become the owner's: it is removed, and the new account is another person, to
 * whom nothing belongs that the stranger created.
 */
async function proveAccount(db: Db, form: NewPassword, unproven: AccountRow | undefined, now: number) {
  if (unproven) await removeAccount(db, unproven);
  return insertAccount(db, { ...form, emailVerified: true }, now);
}

/**
 * The pages behind links: first account, invitation, new password. Each one ends with the person signed in, on the way to the
 * dashboard.
 */
export function linkRoutes(app: FastifyInstance, context: PageContext): void {
  const { db, provider, addresses, passwords, attempts, browsers, now } = context;
  for (const [name, kind] of Object.entries(KINDS)) {
    const action = `${addresses.path}/${name}`;

    const view = async (shown: LinkView) => {
      const invitedTo = await kind.invitedTo?.(db, shown.email ?? '');
      return kind.view({ ...shown, invitedTo }, action);
    };

    const openLink = (token: string) => findLink(db, kind.purpose, token, now());

    function sendUnusable(reply: FastifyReply, why = 'It was already used, has expired, or a newer link replaced it.') {
      const next = { href: addresses.home, label: 'Sign in' };
      return sendPage(reply, addresses, messagePage('This link does not work', why, next), 410);
    }

    app.get(`/${name}`, async (request, reply) => {
      const token = tokenOf(request);
      const link = await openLink(token);
      if (!link) return sendUnusable(reply);
      const why = await kind.pointless(db, link);
      if (why !== undefined) return sendUnusable(reply, why);
      return sendPage(reply, addresses, await view({ token, email: link.email ?? undefined }));
    });

    app.post(`/${name}`, async (request, reply) => {
      const token = fieldOf(request, 'token');
      const wait = await attempts.take(...fromAddress(request.ip));
      const link = await openLink(token);
      if (!link) return sendUnusable(reply);
      const why = await kind.pointless(db, link);
      if (why !== undefined) return sendUnusable(reply, why);
      const email = link.email ?? fieldOf(request, 'email').trim();
      const password = fieldOf(request, 'password');
      const show = async (error: string, status: number) =>
        sendPage(reply, addresses, await view({ token, email, error }), status);
      if (wait > 0) return show(tooMany(reply, wait), 429);
      const refusal = refuseEmail(email) ?? refusePassword(password, email);
      if (refusal !== undefined) return show(refusal, 422);
      const form = { email, password: await passwords.hash(password, { address: request.ip, isKnown: true }) };
      const accountId = await db.transaction().execute(async (transaction) => {
        await kind.begin?.(transaction);
        if (!(await spendLink(transaction, link, now()))) return undefined;
        return kind.use(transaction, form, now());
      });
      const account = accountId === undefined ? undefined : await findAccount(db, accountId);
      if (!account) return sendUnusable(reply);
      await recordSignIn(db, { issuer: EMBEDDED, subject: account.account_id }, now());
      browsers.remember(reply, account);
      await startSession(await provider(), addresses, request.raw, reply.raw, account);
      return reply.redirect(addresses.home, 303);
    });
  }
}

const tokenOf = ({ url }: FastifyRequest): string => new URL(url, 'http://service').searchParams.get('token') ?? '';
