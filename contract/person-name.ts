import { NOBODY } from './names.ts';
import type { Member } from './organization.ts';

/** A member's id and e-mail address, which may differ in case. */
export type Named = Pick<Member, 'userId' | 'email'>;

/** In `person:`, the person who searches. */
export const ME = 'me';

const localPart = ({ email }: Pick<Named, 'email'>): string => email.slice(0, email.lastIndexOf('@')).toLowerCase();

/**
 * The name of each member by user id: the local part of the e-mail address if no other member has the same one, otherwise the
 * whole address. A name always finds its member.
 */
export function namesOf(members: readonly Named[]): ReadonlyMap<string, string> {
  const byPart = Map.groupBy(members, localPart);
  return new Map(
    members.map((member) => {
      const part = localPart(member);
      const isClear = part !== '' && byPart.get(part)?.length === 1 && part !== ME && part !== NOBODY;
      return [member.userId, isClear ? member.email.slice(0, part.length) : member.email];
    }),
  );
}

/** The members with this e-mail address, or else with this local part; several if the name is ambiguous. */
export function membersCalled<Member extends Named>(members: readonly Member[], name: string): Member[] {
  const wanted = name.toLowerCase();
  const exact = members.filter(({ email }) => email.toLowerCase() === wanted);
  return exact.length > 0 ? exact : members.filter((member) => localPart(member) === wanted);
}
