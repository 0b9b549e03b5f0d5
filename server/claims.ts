/** What a token proves about its bearer. It never proves a membership. */
export interface Claims {
  issuer: string;
  subject: string;
  email?: string;
  /** The issuer vouches for the e-mail. */
  emailVerified: boolean;
  /** The person's id in the directory behind the issuer, which the directory sends as `externalId`. */
  directoryId?: string;
  /** The person's name in the issuer's own API, if it is not the subject. */
  username?: string;
  /** When the token expires, in milliseconds since the epoch. */
  expiresAt?: number;
  /** The operator has configured this issuer so that a verified e-mail takes over its membership under another issuer. */
  adoptsMembers?: boolean;
  /** The operator lets people create organizations whose e-mail the issuer does not vouch for. */
  foundsUnverified?: boolean;
  /** Anyone may sign up at this issuer, so an invited person must accept before joining. */
  asksBeforeJoining?: boolean;
}
