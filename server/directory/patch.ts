import { type Filter, type LogExp, parse, filter as testerOf } from 'scim2-parse-filter';
import type { ScimOperation } from '../../contract/directory.ts';
import { Problem } from '../../contract/problem.ts';
import { FILTERED, type UserFilter } from '../store/directory.ts';
import { isObject, MAX_EMAILS } from './attributes.ts';

/*
 * PATCH of SCIM (RFC 7644, 3.5.2) for the attributes that the service keeps. A path is only compared with their names and never
 * used as a key, so no path reaches a prototype. docs/decisions/0036 says why we use no library for this.
 */

type Values = Record<string, unknown>;

const SINGLE = ['userName', 'externalId', 'displayName', 'active'] as const;
const PARTS = { name: ['formatted', 'givenName', 'familyName'], emails: ['value', 'type', 'primary'] } as const;

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:User:/i;
const PATH = /^(\w+)(?:\[([^[\]]+)\])?(?:\.(\w+))?$/;

/** The most attributes that one request changes. */
const MAX_CHANGES = 200;
/** The most characters of the path of an attribute. */
const MAX_PATH = 256;

/** The filter parser would take years for an unterminated text with some 50 line breaks. */
const PARSABLE = /^\P{Cc}{1,512}$/u;

/**
 * The values after the operations. Operations on other attributes are ignored.
 * @throws Problem `invalid_path`, `validation_failed`
 */
export function patchUser(before: Values, operations: readonly ScimOperation[]): Values {
  const user = structuredClone(before);
  const changes = operations.flatMap(separate);
  if (changes.length > MAX_CHANGES) {
    throw new Problem('validation_failed', `One request changes ${MAX_CHANGES} attributes at most. Send several.`);
  }
  for (const { op, path, value } of changes) change(user, op.toLowerCase(), path, value);
  return user;
}

/** An operation without a path may change many attributes. The keys of its value are their paths. */
function separate({ op, path, value }: ScimOperation): { op: string; path: string; value: unknown }[] {
  if (path !== undefined) return [{ op, path, value }];
  if (!isObject(value)) throw new Problem('validation_failed', 'An operation without a path needs an object as value.');
  return Object.entries(value).map(([key, part]) => ({ op, path: key, value: part }));
}

function change(user: Values, op: string, path: string, value: unknown): void {
  // Extensions, such as the enterprise user, and their attributes.
  if (/^urn:/i.test(path) && !CORE.test(path)) return;
  const [, first = '', filter, last] = PATH.exec(path.replace(CORE, '')) ?? [];
  if (first === '' || path.length > MAX_PATH) {
    throw new Problem('invalid_path', `The path ${path.slice(0, 100)} cannot be read.`);
  }
  const single = nameIn(SINGLE, first);
  if (single !== undefined) set(user, single, op, value);
  const complex = nameIn(['name', 'emails'] as const, first);
  const part = complex && last !== undefined ? nameIn(PARTS[complex], last) : undefined;
  if (complex === undefined || (last !== undefined && part === undefined)) return;
  if (complex === 'emails') user.emails = fewEmails(changeEmails(user.emails, { op, filter, part, value }));
  else if (part !== undefined) user.name = withPart(user.name, part, op, value);
  else if (op === 'remove') delete user.name;
  else user.name = { ...(isObject(user.name) ? user.name : {}), ...(isObject(value) ? value : {}) };
}

function set(values: Values, name: string, op: string, value: unknown): void {
  if (op === 'remove') delete values[name];
  else values[name] = value;
}

function withPart(values: unknown, part: string, op: string, value: unknown): Values {
  const changed = isObject(values) ? { ...values } : {};
  set(changed, part, op, value);
  return changed;
}

interface EmailChange {
  op: string;
  /** The text between the brackets of the path. */
  filter: string | undefined;
  part: string | undefined;
  value: unknown;
}

function changeEmails(given: unknown, { op, filter, part, value }: EmailChange): Values[] {
  const emails = Array.isArray(given) ? given.filter(isObject) : [];
  const values = fewEmails(Array.isArray(value) ? value : [value]).filter(isObject);
  const isAmong = (email: Values) => values.some((other) => other.value === email.value);
  if (filter === undefined && part === undefined) {
    if (op === 'replace') return values;
    const others = emails.filter((email) => !isAmong(email));
    return op === 'add' ? [...others, ...values] : values.length > 0 ? others : [];
  }
  const condition = filter === undefined ? undefined : readFilter(filter);
  const isMeant = condition ? (email: Values) => fits(email, condition) : () => true;
  if (op === 'remove' && part === undefined) return emails.filter((email) => !isMeant(email));
  const changed = (email: Values) =>
    part === undefined ? { ...email, ...values[0] } : withPart(email, part, op, value);
  if (emails.some(isMeant)) return emails.map((email) => (isMeant(email) ? changed(email) : email));
  return op === 'remove' ? emails : [...emails, changed(asFiltered(condition))];
}

/**
 * Each e-mail is compared with all others, so a long list would take too long.
 * @throws Problem `validation_failed`
 */
function fewEmails<Email>(emails: Email[]): Email[] {
  if (emails.length <= MAX_EMAILS) return emails;
  throw new Problem('validation_failed', `A user has ${MAX_EMAILS} e-mails at most.`);
}

/** An e-mail whose value is not a text, such as an object, may not be comparable. The check of all changes refuses it later. */
function fits(email: Values, condition: Filter): boolean {
  try {
    return testerOf(condition)(email);
  } catch {
    return false;
  }
}

/** The e-mail that `emails[type eq "work"]` creates if none exists yet. */
function asFiltered(condition: Filter | undefined): Values {
  if (condition === undefined) return {};
  const name = condition.op === 'eq' ? nameIn(PARTS.emails, condition.attrPath) : undefined;
  if (condition.op === 'eq' && name !== undefined) return { [name]: condition.compValue };
  throw new Problem('invalid_path', 'No e-mail matches the filter of the path.');
}

/** @throws Problem `invalid_path` */
function readFilter(text: string): Filter {
  const filter = parsed(text);
  if (filter) return filter;
  throw new Problem('invalid_path', `The filter ${text.slice(0, 100)} in the path cannot be read.`);
}

/** The matching name, compared without regard to case (RFC 7643, 2.1). */
const nameIn = <const Names extends readonly string[]>(names: Names, name: string): Names[number] | undefined =>
  names.find((one) => one.toLowerCase() === name.toLowerCase());

/**
 * Reads the filter of a list. Directories search for one user by a known value.
 * @throws Problem `invalid_filter`
 */
export function readUserFilter(text: string): UserFilter {
  const parts = parsed(text);
  const condition = isOfWork(parts) ? parts.filters[1] : parts;
  const name = condition?.op === 'eq' ? nameIn(FILTERED, condition.attrPath.replace(CORE, '')) : undefined;
  if (condition?.op === 'eq' && name !== undefined && typeof condition.compValue === 'string') {
    return { name, value: condition.compValue };
  }
  throw new Problem('invalid_filter', `A filter compares one of ${FILTERED.join(', ')} by eq with a text.`);
}

/** `emails[type eq "work"].value eq "…"`, which Microsoft Entra may use. The part in brackets has no effect here. */
const isOfWork = (filter: Filter | undefined): filter is LogExp =>
  filter?.op === 'and' && filter.filters.length === 2 && filter.filters[0]?.op === '[]';

function parsed(text: string): Filter | undefined {
  if (!PARSABLE.test(text)) return undefined;
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
