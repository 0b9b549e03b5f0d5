/** The provider's one client. */
export const CLIENT_ID = 'dashboard';

const DAY = 24 * 3600;
/** Seconds that a browser stays signed in without being used. */
export const SESSION_LIFE = 14 * DAY;
