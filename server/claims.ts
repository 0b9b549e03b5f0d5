/** What a token proves about its bearer. Membership is never read from it. */
export interface Claims {
  issuer: string;
  subject: string;
  email?: string;
  /** The issuer vouches for the e-mail. */
  emailVerified: boolean;
  /** What the issuer's own interface calls the person, where that is not the subject. */
  username?: string;
  /** When the token expires, in milliseconds since the epoch. */
  expiresAt?: number;
  /** The operator lets this issuer's verified e-mails take over the memberships they have under another issuer. */
  adoptsMembers?: boolean;
  /** Anyone may sign up at this issuer, so an invited person joins no organization before saying yes. */
  asksBeforeJoining?: boolean;
}
