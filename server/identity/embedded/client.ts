/** The provider's one client. */
export const CLIENT_ID = 'dashboard';

/** Claim that tells for which of the account's passwords a token was issued. */
export const PASSWORD_VERSION = 'password_version';

const DAY = 24 * 3600;
/** Seconds that a browser stays signed in without being used. */
export const SESSION_LIFE = 14 * DAY;
