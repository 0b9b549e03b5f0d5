/** Accounts, invitations and memberships are found by the e-mail without regard to case. */
export const emailKey = (email: string): string => email.trim().toLowerCase();
