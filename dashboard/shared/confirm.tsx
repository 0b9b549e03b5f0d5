import type { ReactNode } from 'react';
import type { Client } from '../../contract/client.ts';
import { useChange } from '../app/queries.ts';
import { FormDialog } from './form-dialog.tsx';

interface Props {
  title: string;
  /** The verb on the button. */
  action: string;
  run: (api: Client) => Promise<unknown>;
  /** Keys of the queries that are read again afterwards. */
  touches: readonly (readonly unknown[])[];
  onDone: () => void;
  onClose: () => void;
  children: ReactNode;
  /** Something to choose or to type, below the text. */
  extra?: ReactNode;
  /** Whether the person still has to type or choose something. */
  isIncomplete?: boolean;
}

/** Asks for confirmation of an action that cannot be undone, runs it, and shows the error if it fails. */
export function Confirm({ title, action, run, touches, onDone, onClose, children, extra, isIncomplete }: Props) {
  const change = useChange((api, _: undefined) => run(api), touches);
  return (
    <FormDialog
      title={title}
      action={action}
      tone="danger"
      error={change.error}
      isBlocked={change.isPending || isIncomplete === true}
      // A list or page may notice the change first and unmount this dialog.
      onSubmit={() => void change.mutateAsync(undefined).then(onDone, () => undefined)}
      onClose={onClose}
    >
      <div className="flex flex-col gap-3 text-muted">
        <p>{children}</p>
        {extra}
      </div>
    </FormDialog>
  );
}
