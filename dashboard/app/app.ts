import { createContext, useContext } from 'react';
import type { Client } from '../../contract/client.ts';
import type { Person } from '../../contract/extensions.ts';
import type { Organization, Role } from '../../contract/organization.ts';
import type { Auth } from './auth.ts';
import type { Live } from './live.ts';
import type { IndexReader } from './read-index.ts';

/** Created once by `main.tsx` and used by all pages. */
export interface App {
  auth: Auth;
  api: Client;
  live: Live;
  indexes: IndexReader;
}

const AppContext = createContext<App | undefined>(undefined);
export const AppProvider = AppContext.Provider;

export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error('There is no AppProvider above.');
  return app;
}

/** A person who belongs to an organization. */
export type MemberPerson = Person & { organization: Organization; role: Role };

const PersonContext = createContext<MemberPerson | undefined>(undefined);
export const PersonProvider = PersonContext.Provider;

export function usePerson(): MemberPerson {
  const person = useContext(PersonContext);
  if (!person) throw new Error('There is no PersonProvider above.');
  return person;
}

export const useIsAdmin = (): boolean => usePerson().role !== 'member';
export const isMember = (person: Person): person is MemberPerson =>
  person.organization !== undefined && person.role !== undefined;
