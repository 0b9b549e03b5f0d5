import type { ReactNode } from 'react';
import type { Client } from '../../contract/client.ts';
import { useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { ErrorNote } from './error-note.tsx';

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
  // A list or page may learn of it first, and take this dialog away.
  const confirm = () => change.mutateAsync(undefined).then(onDone, () => undefined);
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-3 text-muted">
        <p>{children}</p>
        {extra}
        {change.isError && <ErrorNote error={change.error} />}
      </div>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="danger" disabled={change.isPending || isIncomplete} onClick={() => void confirm()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
