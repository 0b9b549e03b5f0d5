import type { AuditAction, AuditEntry } from '../../contract/audit.ts';
import { formatCount, plural } from '../kit/format.ts';
import { agentName } from '../shared/agent-name.tsx';
import { wordPolicyField } from './policy-words.ts';

export const WORDS: Record<AuditAction, string> = {
  'organization.created': 'created the organization',
  'organization.renamed': 'renamed the organization',
  'organization.owner_changed': 'named the owner',
  'organization.exported': 'exported the data of',
  'policy.changed': 'changed the policy',
  'directory.token_issued': 'issued the token of the directory',
  'directory.token_revoked': 'revoked the token of the directory',
  'member.invited': 'invited',
  'member.invitation_accepted': 'accepted the invitation',
  'member.role_changed': 'changed the role of',
  'member.invitation_ended': 'joined elsewhere or left the service, which ended the invitation',
  'member.removed': 'removed',
  'member.left': 'left',
  'member.signed_in': 'signed in',
  'member.sessions_handed_over': 'handed over the machines and sessions of',
  'member.sessions_deleted': 'had all sessions deleted of',
  'secret.issued': 'issued the secret',
  'secret.revoked': 'revoked the secret',
  'machine.sign_in_approved': 'let the machine sign in',
  'machine.sign_in_denied': 'refused the machine',
  'machine.registered': 'registered the machine',
  'machine.revoked': 'revoked the machine',
  'machine.claimed': 'claimed the machine',
  'machine.person_changed': 'changed the person of the machine',
  'agent.installed': 'installed an agent',
  'agent.changed': 'changed the agent',
  'session.deleted': 'deleted the session',
  'session.removed': 'finished deleting the session',
  'session.deletion_refused': 'could not delete the session',
  'session.expired': 'deleted the expired session',
  'session.content_expired': 'removed the expired content of the session',
  'session.deletion_forgotten': 'allowed to capture again',
  'hold.placed': 'placed the hold',
  'hold.released': 'released the hold',
  'organization.mask_requested': 'asked to mask a text in all sessions',
  'organization.masked': 'masked a text in all sessions',
  'session.mask_requested': 'asked to mask a text in the session',
  'session.masked': 'masked a text in the session',
  'share.created': 'shared the session',
  'share.revoked': 'revoked a share of the session',
  'session.visibility_changed': 'changed who may see the session',
};

export const ACTIONS = Object.keys(WORDS) as AuditAction[];
export const isAction = (word: string): word is AuditAction => Object.hasOwn(WORDS, word);

/** Actions that need no target to be understood. */
export const WHOLE: ReadonlySet<AuditAction> = new Set<AuditAction>([
  'organization.created',
  'organization.renamed',
  'policy.changed',
  'directory.token_issued',
  'directory.token_revoked',
  'member.invitation_accepted',
  'member.invitation_ended',
  'member.left',
  'member.signed_in',
  'agent.installed',
]);

type Details = NonNullable<AuditEntry['details']>;
type Value = Details[string];

/** Replaces the id of a person, a machine or another thing by its name; returns other words unchanged. */
export type NameOf = (value: Value) => string;

/** The details of an action in words. */
export function wordDetails({ from, to, role, ...others }: Details, nameOf: NameOf): string {
  const change = from === undefined ? [] : [`from ${nameOf(from)}`];
  return [
    [...change, ...(to === undefined ? [] : [`to ${nameOf(to)}`])].join(' '),
    role === undefined ? '' : `as ${role}`,
    ...Object.entries(others).map(([name, value]) => wordDetail(name, value, nameOf)),
  ]
    .filter((words) => words !== '')
    .join(', ');
}

function wordDetail(name: string, value: Value, nameOf: NameOf): string {
  const word = DETAILS[name];
  return word ? word(value, nameOf) : `${name} ${nameOf(value)}`;
}

const DETAILS: Readonly<Record<string, (value: Value, nameOf: NameOf) => string>> = {
  // For the policy, the names of the fields; for a mask, the number of the session's fields that contained the text.
  fields: (value) =>
    typeof value === 'number'
      ? plural(value, 'field')
      : String(value)
          .split(', ')
          .map((field) => wordPolicyField(field))
          .join(', '),
  hold: (value) => `kept by the hold ${value}`,
  agent: (value) => agentName(String(value)),
  machine: (value, nameOf) => `on ${nameOf(value)}`,
  sessions: (value) => plural(Number(value), 'session'),
  events: (value) => plural(Number(value), 'event'),
  places: (value) => plural(Number(value), 'place'),
  outcome: (value) => OUTCOMES[String(value)] ?? '',
  mask: () => '',
  appends: (value) => plural(Number(value), 'append'),
  bytes: (value) => `${formatCount(Number(value))} bytes`,
  why: (value) => REASONS[String(value)] ?? `why ${value}`,
};

const OUTCOMES: Readonly<Record<string, string>> = {
  held: 'until a hold was placed',
  stopped: 'until the person who asked was no longer an admin',
  cancelled: 'until it was cancelled',
  failed: 'until it failed',
};

const REASONS: Readonly<Record<string, string>> = {
  person: 'a person asked for it',
  machine: 'its machine asked for it',
};
