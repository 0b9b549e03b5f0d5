import { type Html, html, type Page } from './html.ts';
import { MIN_PASSWORD } from './passwords.ts';

/** The sign-in pages. `html` escapes every value that is not part of these templates. */

interface Field {
  name: string;
  label: string;
  type: 'email' | 'password';
  autocomplete: string;
  value?: string | undefined;
  hint?: string;
  readonly?: boolean;
  invalid?: boolean;
  focus?: boolean;
}

const field = ({ name, label, type, autocomplete, value, hint, readonly, invalid, focus }: Field): Html => {
  const describedBy = [invalid && 'error', hint && `${name}-hint`].filter(Boolean).join(' ');
  return html`<div>
<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" value="${value}" required spellcheck="false" autocapitalize="none"${
    type === 'password' && autocomplete === 'new-password' && html` minlength="${MIN_PASSWORD}"`
  }${readonly && html` readonly`}${focus && html` autofocus`}${invalid && html` aria-invalid="true"`}${
    describedBy !== '' && html` aria-describedby="${describedBy}"`
  }>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
</div>`;
};

const form = (fields: readonly Html[], button: string, action?: string): Html =>
  html`<form method="post"${action !== undefined && html` action="${action}"`}>
${fields}
<button type="submit">${button}</button>
</form>`;

const newPassword = (invalid: boolean, focus = false): Html =>
  field({
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'new-password',
    hint: `At least ${MIN_PASSWORD} characters. A few words are better than one.`,
    invalid,
    focus,
  });

const emailField = (value: string | undefined, change: Partial<Field> = {}): Html =>
  field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value, ...change });

export interface SignInView {
  email?: string | undefined;
  error?: string | undefined;
  /** Absent if accounts require an invitation. */
  signUpUrl?: string | undefined;
  forgotUrl: string;
}

export const signInPage = ({ email, error, signUpUrl, forgotUrl }: SignInView): Page => {
  const invalid = error !== undefined;
  const password = {
    name: 'password',
    label: 'Password',
    type: 'password',
    autocomplete: 'current-password',
    invalid,
    focus: Boolean(email),
  } as const;
  return {
    title: 'Sign in',
    error,
    body: form([emailField(email, { invalid, focus: !email }), field(password)], 'Sign in'),
    footer: [
      html`<a href="${forgotUrl}">Forgot your password?</a>`,
      signUpUrl === undefined
        ? html`No account? An owner or admin of your organization can invite you.`
        : html`No account? <a href="${signUpUrl}">Create one</a>`,
    ],
  };
};

export interface SignUpView {
  email?: string | undefined;
  error?: string | undefined;
  signInUrl: string;
}

export const signUpPage = ({ email, error, signInUrl }: SignUpView): Page => ({
  title: 'Create an account',
  error,
  body: form(
    [emailField(email, { invalid: error !== undefined, focus: !email }), newPassword(error !== undefined)],
    'Create account',
  ),
  footer: [html`Have an account? <a href="${signInUrl}">Sign in</a>`],
});

export interface LinkView {
  token: string;
  email?: string | undefined;
  error?: string | undefined;
  /** Names of organizations, latest invitation first. */
  invitedTo?: readonly string[] | undefined;
}

const tokenInput = (token: string) => html`<input type="hidden" name="token" value="${token}">`;

/** The address of the form has no token, so that the browser's history contains the token only once. */
export const welcomePage = ({ token, email, error }: LinkView, action: string): Page => ({
  title: 'Create the first account',
  error,
  body: html`<p>It will own the first organization. Others join by invitation.</p>${form(
    [
      tokenInput(token),
      emailField(email, { invalid: error !== undefined, focus: true }),
      newPassword(error !== undefined),
    ],
    'Create account',
    action,
  )}`,
});

export const joinPage = ({ token, email, error, invitedTo = [] }: LinkView, action: string): Page => ({
  title: 'Set your password',
  error,
  body: html`${invitedTo.length > 0 && html`<p>You are invited to ${boldList(invitedTo)}.</p>`}<p>This sets the password of your account and confirms your e-mail.</p>${form(
    [tokenInput(token), emailField(email, { readonly: true }), newPassword(error !== undefined, true)],
    'Continue',
    action,
  )}`,
});

/** Any organization may invite any address, so a long list is cut. */
const MAX_NAMES = 3;

function boldList(names: readonly string[]): Html[] {
  const shown = names.slice(0, MAX_NAMES).map((name) => html`<strong>${name}</strong>`);
  const more = names.length - shown.length;
  const all = more > 0 ? [...shown, html`${more} more`] : shown;
  return all.map((item, index) => html`${separator(index, all.length)}${item}`);
}

const separator = (index: number, count: number): string => (index === 0 ? '' : index < count - 1 ? ', ' : ' and ');

export const resetPage = ({ token, email, error }: LinkView, action: string): Page => ({
  title: 'Set a new password',
  error,
  body: html`<p>You will be signed out everywhere else.</p>${form(
    [tokenInput(token), emailField(email, { readonly: true }), newPassword(error !== undefined, true)],
    'Set password',
    action,
  )}`,
});

export const forgotPage = (email: string | undefined, error: string | undefined): Page => ({
  title: 'Forgot your password?',
  error,
  body: html`<p>We will mail you a link that sets a new one.</p>${form(
    [emailField(email, { focus: true, invalid: error !== undefined })],
    'Send the link',
  )}`,
});

export const forgotSentPage = (email: string): Page => ({
  title: 'Check your mail',
  body: html`<p>If there is an account for <strong>${email}</strong>, a link is on its way. It works for one hour.</p>
<p>No mail? Without a mail server, the operator finds the mail in the outbox of the service's data folder.</p>`,
});

/** Shown instead of the sign-in page while there is no account. */
export const noAccountPage = (home: string): Page => ({
  title: 'There is no account yet',
  body: html`<p>The service printed the link that creates the first one when it started, below “Session Capture is ready”:
look at its terminal, or at the log of its container or unit.</p>
<p>The link works once and for 24 hours. Start the service again for a new one.</p>
<a class="button" href="${home}">I have an account now</a>`,
});

/** A page with a sentence and one link to continue. */
export const messagePage = (title: string, sentence: string, next?: { href: string; label: string }): Page => ({
  title,
  body: html`<p>${sentence}</p>${next && html`<a class="button" href="${next.href}">${next.label}</a>`}`,
});

/** `form` is the provider's own form. Its id is the one that the button names. */
export const signOutPage = (form: Html, home: string): Page => ({
  title: 'Sign out?',
  body: html`<p>You will be signed out of Session Capture in this browser.</p>
<p><button type="submit" form="op.logoutForm" name="logout" value="yes" autofocus>Sign out</button></p>
<p><a class="button quiet" href="${home}">Stay signed in</a></p>
${form}`,
});
