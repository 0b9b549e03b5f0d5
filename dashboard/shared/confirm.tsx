import type { ReactNode } from 'react';
import type { Client } from '../../contract/client.ts';
import { useChange } from '../app/queries.ts';
import { FormDialog } from './form-dialog.tsx';

interface Props {
  title: string;
  /** The verb on the button. */
  action: string;
  run: (api: Client) => Promise<unknown>;
  /** The keys of what is read again afterwards. */
  touches: readonly (readonly unknown[])[];
  onDone: () => void;
  onClose: () => void;
  children: ReactNode;
  /** Something to choose or to type, below the text. */
  extra?: ReactNode;
  /** Whether what must be typed is not there yet. */
  isIncomplete?: boolean;
}

/** Asks before something that cannot be taken back, does it, and says why it could not be done. */
export function Confirm({ title, action, run, touches, onDone, onClose, children, extra, isIncomplete }: Props) {
  const change = useChange((api, _: undefined) => run(api), touches);
  return (
    <FormDialog
      title={title}
      action={action}
      tone="danger"
      error={change.error}
      isBlocked={change.isPending || isIncomplete === true}
      // A list or page may learn of it first, and take this dialog away.
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
