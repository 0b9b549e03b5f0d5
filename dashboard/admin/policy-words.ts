import type { Policy } from '../../contract/policy.ts';

const FIELDS: Readonly<Record<keyof Policy, string>> = {
  signIn: 'who may sign in a machine',
  visibility: 'who may see new sessions',
  adminsSeeAll: 'whether admins read every session',
  groupByPerson: 'whether figures are shown by person',
  smallestGroup: 'the smallest number of people whose figures are shown by name',
  recordViews: 'whether the service records who looks at a session',
  retention: 'how long sessions are kept',
  linkSharing: 'whether sessions are shared by link',
  shareDays: 'how long a share lasts at most',
};

/** Names a field of the policy, for its page and for the audit log, which may have a field that this page does not know. */
export const wordPolicyField = (field: string): string =>
  Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof Policy] : field;

export const ADMINS_SEE = [
  { value: 'theirs', label: 'No', meaning: 'they see what every member sees' },
  { value: 'all', label: 'Yes', meaning: 'including private ones. Every page tells members so' },
] as const;

export const BY_PERSON = [
  { value: 'not', label: 'Not shown', meaning: 'the overview and the add-ons count people without their names' },
  { value: 'shown', label: 'Shown', meaning: 'if there are enough people' },
] as const;

export const LINKS = [
  { value: 'off', label: 'Off', meaning: 'sessions are shared only with members; existing links stop working at once' },
  { value: 'on', label: 'On', meaning: 'members can share sessions of the whole team with anybody who has the link' },
] as const;

export const RECORD_VIEWS = [
  { value: 'recorded', label: 'Recorded', meaning: 'the person who ran the session sees who looked at it' },
  { value: 'not', label: 'Not recorded', meaning: 'the page of each session says so' },
] as const;

export const SIGN_IN = [
  { value: 'members', label: 'Every member', meaning: 'can confirm the sign-in of their own machines' },
  {
    value: 'admins',
    label: 'Owners and admins',
    meaning: 'confirm it for everybody, and assign each machine to its person on the page Machines',
  },
] as const;
