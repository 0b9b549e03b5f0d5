import { NOBODY } from '../../contract/names.ts';
import { ME, membersCalled } from '../../contract/person-name.ts';
import type { Filter } from '../../contract/written-query.ts';
import { listNamed } from '../store/members.ts';
import type { Db } from '../store/schema.ts';
import type { Viewer } from '../store/viewer.ts';

/** The people that `person:` names. */
export interface PeopleWanted {
  /** Null for nobody. Undefined if the query has no such filter. */
  userIds?: (string | null)[];
  /** A sentence for each name that finds nothing. */
  problems: string[];
}

/**
 * Finds the people that the filters name: by user id, e-mail address or a local part that only one member has. `me` is the person
 * who searches, and `nobody` finds sessions that belong to nobody.
 */
export async function readPeople(db: Db, viewer: Viewer, filters: readonly Filter[]): Promise<PeopleWanted> {
  const names = [...new Set(filters.filter(({ field }) => field === 'person').map(({ value }) => value))];
  if (names.length === 0) return { problems: [] };
  const members = await listNamed(db, viewer.organizationId);
  const wanted: Required<PeopleWanted> = { userIds: [], problems: [] };
  for (const name of names) {
    const called: Found[] = idsCalled(name, viewer) ?? membersCalled(members, name);
    const [one] = called;
    if (called.length === 1 && one) wanted.userIds.push(one.userId);
    else wanted.problems.push(`person:${name} finds nothing: ${whyNot(name, called)}`);
  }
  return wanted;
}

interface Found {
  userId: string | null;
  email?: string;
}

/** The people for a value that is no name of a member. */
function idsCalled(name: string, { userId }: Viewer): Found[] | undefined {
  const word = name.toLowerCase();
  if (word === NOBODY) return [{ userId: null }];
  if (word === ME && userId !== undefined) return [{ userId }];
  // Sessions of a former member still have the id.
  return name.startsWith('usr_') ? [{ userId: name }] : undefined;
}

const whyNot = (name: string, called: readonly Found[]): string =>
  called.length === 0
    ? `no member is called ${name}. The name of an account on a machine is not a member.`
    : `several members are called so. Write ${called.map(({ email }) => email).join(' or ')}.`;
