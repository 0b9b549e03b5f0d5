import type { FastifyInstance } from 'fastify';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import type { Role } from '../../contract/organization.ts';
import type { Claims } from '../claims.ts';

export interface InviteMail {
  email: string;
  organizationName: string;
  role: Role;
}

/** An identity provider, as the rest of the service sees it. */
export interface Identity {
  /** Where the browser signs in; the part of `GET /config` that is the provider's. */
  bootstrap(): Omit<BootstrapConfig, 'apiUrl'>;
  /**
   * Checks a JWT.
   * @throws Problem `token_invalid`, `token_expired`, or `service_unavailable` when no key could ever be had
   */
  verify(token: string): Promise<Claims>;
  /** Tells the provider which organization a person belongs to. A failure is answered 502. */
  assignTenant(claims: Claims, organizationId: string): Promise<void>;
  /**
   * Lets the invited person in. A failure is answered 502, and leaves no member behind.
   * @returns when the link of its mail stops working, in milliseconds since the epoch, if it does
   */
  invite(mail: InviteMail): Promise<{ linkExpiresAt?: number }>;
  /** Removes the person's account, where accounts are the service's own. */
  deleteAccount?(claims: Claims): Promise<void>;
  /** Origins, beside the service's own, from which a browser fetches tokens while it signs in. */
  origins(): Promise<readonly string[]>;
  /** Adds the provider's own pages and endpoints, where it lives inside the service. */
  mount?(app: FastifyInstance): Promise<void>;
  /** Lines for a person who starts the service, e.g. the link that creates the first account. */
  greeting?(): Promise<readonly string[]>;
  close?(): Promise<void>;
}
