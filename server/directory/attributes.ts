import { Value } from 'typebox/value';
import type { ScimAttributes } from '../../contract/directory.ts';
import { Email } from '../../contract/organization.ts';
import { Problem } from '../../contract/problem.ts';

/** A directory's data of a user, in the types of the service. */
export interface DirectoryUser {
  attributes: ScimAttributes;
  /** Undefined if the directory sends no value. */
  active: boolean | undefined;
  /** The e-mail for the invitation. */
  email: string;
}

type Values = Record<string, unknown>;

const MAX_TEXT = 256;
export const MAX_EMAILS = 20;
const NAMES = ['formatted', 'givenName', 'familyName'] as const;

/**
 * Reads the attributes of a user that the service keeps. Directories disagree about types: Microsoft Entra sends `"False"` for
 * false.
 * @throws Problem `validation_failed`
 */
export function readUser(values: Values): DirectoryUser {
  const name = isObject(values.name) ? values.name : {};
  const names = NAMES.flatMap((part) => {
    const text = readText(name, part);
    return text === undefined ? [] : [[part, text] as const];
  });
  const emails = readEmails(values.emails);
  const userName = readText(values, 'userName');
  if (userName === undefined || userName === '') throw wrong('userName', 'is missing');
  const externalId = readText(values, 'externalId');
  const displayName = readText(values, 'displayName');
  const attributes: ScimAttributes = {
    userName,
    ...(externalId !== undefined && { externalId }),
    ...(displayName !== undefined && { displayName }),
    ...(names.length > 0 && { name: Object.fromEntries(names) }),
    ...(emails.length > 0 && { emails }),
  };
  return { attributes, active: readBoolean('active', values.active), email: emailOf(attributes) };
}

/** The e-mail of a user: the primary one, the one of type work, the first one, or a user name that is an e-mail. */
function emailOf({ userName, emails = [] }: ScimAttributes): string {
  const chosen = emails.find(({ primary }) => primary) ?? emails.find(({ type }) => type === 'work') ?? emails[0];
  const email = (chosen?.value ?? userName).trim();
  if (Value.Check(Email, email)) return email;
  throw wrong(chosen ? 'emails' : 'userName', 'is not an e-mail address. Map the e-mail that the person signs in with');
}

function readEmails(value: unknown): NonNullable<ScimAttributes['emails']> {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_EMAILS)
    throw wrong('emails', `must be ${MAX_EMAILS} e-mails at most`);
  return value.flatMap((email) => {
    const text = isObject(email) ? readText(email, 'value') : undefined;
    if (text === undefined || text === '') return [];
    const type = readText(email, 'type');
    const primary = readBoolean('emails.primary', email.primary);
    return [{ value: text, ...(type !== undefined && { type }), ...(primary !== undefined && { primary }) }];
  });
}

function readText(values: Values, name: string): string | undefined {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || value === null) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be in it
  if (typeof value !== 'string' || value.length > MAX_TEXT || /[\u0000-\u001f\u007f]/.test(value)) {
    throw wrong(name, `must be a text of ${MAX_TEXT} characters at most, in one line`);
  }
  return value.trim();
}

function readBoolean(name: string, value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  const word = String(value).toLowerCase();
  if (word !== 'true' && word !== 'false') throw wrong(name, 'must be true or false');
  return word === 'true';
}

export const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const wrong = (name: string, what: string) => new Problem('validation_failed', `${name} ${what}.`);
