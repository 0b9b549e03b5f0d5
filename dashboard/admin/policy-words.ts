import type { Policy } from '../../contract/policy.ts';

const FIELDS: Readonly<Record<keyof Policy, string>> = {
  signIn: 'who may sign in a machine',
  visibility: 'who may see new sessions',
  adminsSeeAll: 'whether admins read every session',
  groupByPerson: 'whether figures are shown by person',
  smallestGroup: 'the smallest number of people whose figures are shown apart',
  recordViews: 'whether looks at sessions are recorded',
  retention: 'how long sessions are kept',
  linkSharing: 'whether sessions are shared by link',
  shareDays: 'how long a share lasts at most',
};

/** What a field of the policy decides, on its page and in the audit log, which may know a field that this page does not. */
export const wordPolicyField = (field: string): string =>
  Object.hasOwn(FIELDS, field) ? FIELDS[field as keyof Policy] : field;

export const ADMINS_SEE = [
  { value: 'theirs', label: 'No', meaning: 'they see what every member sees' },
  { value: 'all', label: 'Yes', meaning: 'also private ones. Each page tells every member so' },
] as const;

export const BY_PERSON = [
  { value: 'not', label: 'Not shown', meaning: 'the overview and the add-ons count people without their names' },
  { value: 'shown', label: 'Shown', meaning: 'where there are enough people' },
] as const;

export const LINKS = [
  { value: 'off', label: 'Off', meaning: 'sessions are shared with members alone; links that were sent end at once' },
  { value: 'on', label: 'On', meaning: 'members share what the whole team may see with anybody who has the link' },
] as const;

export const RECORD_VIEWS = [
  { value: 'recorded', label: 'Recorded', meaning: 'the person of the session is shown who looked' },
  { value: 'not', label: 'Not recorded', meaning: 'the page of each session says so' },
] as const;

export const SIGN_IN = [
  { value: 'members', label: 'Every member', meaning: 'confirms the sign-in of their own machines' },
  {
    value: 'admins',
    label: 'Owners and admins',
    meaning: 'confirm it for everybody, and give each machine to its person on the page Machines',
  },
] as const;
