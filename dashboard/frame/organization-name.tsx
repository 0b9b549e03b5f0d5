import { type ReactNode, useState } from 'react';
import type { useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNote } from '../shared/error-note.tsx';

type Naming = ReturnType<typeof useChange<{ name: string }, unknown>>;

interface Props {
  label: string;
  action: string;
  /** The current name. */
  known?: string;
  naming: Naming;
  children?: ReactNode;
}

/** A form that names or renames an organization. */
export function OrganizationName({ label, action, known = '', naming, children }: Props) {
  const [name, setName] = useState(known);
  const wanted = name.trim();
  return (
    <form
      className="flex max-w-[560px] flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        naming.mutate({ name: wanted });
      }}
    >
      <label htmlFor="name" className="text-13 text-muted">
        {label}
      </label>
      <div className="flex gap-2">
        <input
          id="name"
          className="field"
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button
          type="submit"
          tone={known === '' ? 'primary' : undefined}
          disabled={naming.isPending || wanted === '' || wanted === known}
        >
          {action}
        </Button>
      </div>
      {children}
      {naming.isError && <ErrorNote error={naming.error} />}
    </form>
  );
}
