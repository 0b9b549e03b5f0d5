import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Field, formatQuery } from '../../contract/query.ts';

interface Props {
  of: Partial<Record<Field, string | undefined>>;
  children: ReactNode;
}

/** Leads to the sessions that somebody or something has. */
export function SessionsOf({ of, children }: Props) {
  const filters = Object.entries(of).flatMap(([field, value]) => (value ? [{ field: field as Field, value }] : []));
  return (
    <Link to="/sessions" search={{ q: formatQuery({ terms: [], filters }) }} className="row-link">
      {children}
    </Link>
  );
}
