import type { FastifyInstance } from 'fastify';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import type { Role } from '../../contract/organization.ts';
import type { Claims } from '../claims.ts';
import type { Db } from '../store/schema.ts';

export interface InviteMail {
  email: string;
  organizationName: string;
  role: Role;
}

/** An identity provider, as the rest of the service uses it. */
export interface Identity {
  /** The provider's part of `GET /config`, which tells the browser where to sign in. */
  bootstrap(): Omit<BootstrapConfig, 'apiUrl'>;
  /**
   * Checks a JWT.
   * @throws Problem `token_invalid`, `token_expired`, or `service_unavailable` if the provider has never returned its keys
   */
  verify(token: string): Promise<Claims>;
  /** Tells the provider which organization a person founded. A failure is answered 502. */
  assignTenant(claims: Claims, organizationId: string): Promise<void>;
  /**
   * Mails the invited person. A failure is answered 502, and the invitation is removed again.
   * @returns when the mailed link expires, in milliseconds since the epoch; absent if it does not expire
   */
  invite(mail: InviteMail): Promise<{ linkExpiresAt?: number }>;
  /** Set if no mail server sends the invitations: their mails wait in the outbox until the operator delivers them. */
  keepsMails?: true;
  /** Set if the provider itself records sign-ins in the audit log. */
  recordsSignIns?: true;
  /** Removes the person's account in the caller's transaction, if the service keeps accounts. */
  deleteAccount?(transaction: Db, claims: Claims): Promise<void>;
  /** Origins, besides the service's own, that a browser connects to while it signs in. */
  origins(): Promise<readonly string[]>;
  /** Adds the pages and endpoints of a provider inside the service. */
  mount?(app: FastifyInstance): Promise<void>;
  /** Lines to print at the start, such as the link for the first account. */
  greeting?(): Promise<readonly string[]>;
  close?(): Promise<void>;
}
