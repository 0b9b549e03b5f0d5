import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

interface Props {
  title: string;
  /** The verb on the button. */
  action: string;
  isPending: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, action, isPending, onConfirm, onClose, children }: Props) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="flex flex-col gap-3 text-muted">{children}</div>
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button tone="danger" disabled={isPending} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
