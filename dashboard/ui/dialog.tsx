import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
  width?: 'narrow' | 'wide';
}

/** A modal. The browser's own `<dialog>` traps the focus, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, children, width = 'narrow' }: Props) {
  const ref = useRef<HTMLDialogElement>(null);
  // React takes effects back while something around the dialog still loads; its close is then none of the person's.
  const closesItself = useRef(false);
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      closesItself.current = true;
      dialog?.close();
    };
  }, []);
  const onClosed = () => {
    if (!closesItself.current) onClose();
    closesItself.current = false;
  };
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onClose={onClosed}
      onClick={(event) => event.target === ref.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
      className={`w-[calc(100vw-32px)] rounded-md border border-line bg-raised p-0 shadow-float ${
        width === 'wide' ? 'max-w-[680px]' : 'max-w-[460px]'
      }`}
    >
      <header className="flex items-center justify-between gap-3 border-line border-b py-2 pr-2 pl-5">
        <h2 className="text-14">{title}</h2>
        <Button tone="quiet" size="small" icon aria-label="Close" onClick={onClose}>
          <X size={16} />
        </Button>
      </header>
      <div className="p-5">{children}</div>
    </dialog>
  );
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex justify-end gap-2">{children}</div>;
}
