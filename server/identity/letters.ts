import type { InviteMail } from './identity.ts';
import type { Mail } from './mail.ts';

/** Mails of the service. Each says what the person is asked to do, and what happens otherwise. */

/** Anybody may name an organization, so its name must not look like a paragraph of the mail. */
const oneLine = (name: string) => name.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

export const invitationLetter = ({ email, organizationName, role }: InviteMail, link: string): Mail => ({
  to: email,
  subject: `You are invited to ${oneLine(organizationName)}`,
  text: [
    `You are invited to join ${oneLine(organizationName)} in Session Capture as ${role}.`,
    `Create your account here, within seven days:\n\n${link}`,
    `Already have an account for ${email}? Then signing in is enough.`,
    'If you did not expect this, do nothing.',
  ].join('\n\n'),
});

/** An invitation where another provider keeps the accounts. */
export const signInLetter = ({ email, organizationName, role }: InviteMail, link: string): Mail => ({
  to: email,
  subject: `You are invited to ${oneLine(organizationName)}`,
  text: [
    `You are invited to join ${oneLine(organizationName)} in Session Capture as ${role}.`,
    `Sign in as ${email} to join:\n\n${link}`,
    'If you did not expect this, do nothing.',
  ].join('\n\n'),
});

export const resetLetter = (email: string, link: string): Mail => ({
  to: email,
  subject: 'Set a new password',
  text: [
    'Somebody asked to set a new password for your Session Capture account.',
    `If it was you, set it here, within one hour:\n\n${link}`,
    'If it was not, do nothing: your password stays as it is.',
  ].join('\n\n'),
});

export const verificationLetter = (email: string, link: string): Mail => ({
  to: email,
  subject: 'Confirm your e-mail',
  text: [
    `Confirm that ${email} is yours, so that invitations to it reach you:\n\n${link}`,
    'The link works for seven days. If you made no Session Capture account, do nothing.',
  ].join('\n\n'),
});
