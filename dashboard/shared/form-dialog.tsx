import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from '../kit/button.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { ErrorNote } from './error-note.tsx';

interface Props {
  title: string;
  /** The verb on the button. */
  action: string;
  tone?: 'primary' | 'danger';
  /** The error of the last attempt, if it failed. */
  error?: unknown;
  /** The form cannot be submitted: a request is running, or a value is missing. */
  isBlocked?: boolean;
  onSubmit: (form: FormData) => void;
  onClose: () => void;
  children: ReactNode;
}

/** A dialog with a form. It shows the error if the request fails. The first field has the focus. */
export function FormDialog({ title, action, tone = 'primary', error, isBlocked, onSubmit, onClose, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('.field, input:checked')?.focus(), []);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        ref={form}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(new FormData(event.currentTarget));
        }}
      >
        {children}
        {error ? <ErrorNote error={error} /> : null}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone={tone} type="submit" disabled={isBlocked}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
