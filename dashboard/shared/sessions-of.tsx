import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Plane } from '../../contract/secret.ts';
import { type Field, formatQuery } from '../../contract/written-query.ts';

interface Props {
  of: Partial<Record<Field, string | undefined>>;
  /** Absent: the plane that the page shows. */
  plane?: Plane;
  children: ReactNode;
}

/** A link to the sessions that match these filters. */
export function SessionsOf({ of, plane, children }: Props) {
  const filters = Object.entries(of).flatMap(([field, value]) => (value ? [{ field: field as Field, value }] : []));
  return (
    <Link
      to="/sessions"
      search={{ q: formatQuery({ terms: [], filters }), ...(plane && { plane: plane === 'test' ? plane : undefined }) }}
      className="row-link"
    >
      {children}
    </Link>
  );
}
