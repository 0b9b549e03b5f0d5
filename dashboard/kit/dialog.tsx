import { X } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface ModalProps {
  label: string;
  onClose: () => void;
  children: ReactNode;
  className: string;
  /** If false, neither Escape nor a click outside closes the dialog, because its content would be lost. */
  canClose?: boolean;
}

/** A box above the page. The browser's own `<dialog>` traps the focus and closes on Escape. */
export function Modal({ label, onClose, children, className, canClose = true }: ModalProps) {
  const ref = useModal();
  return (
    <dialog
      ref={ref}
      aria-label={label}
      onCancel={(event) => {
        // The dialog closes when its owner unmounts it, and then the focus goes back.
        event.preventDefault();
        if (canClose) onClose();
      }}
      onClick={(event) => event.target === ref.current && canClose && onClose()}
      onKeyDown={(event) => {
        event.stopPropagation();
      }}
      // Without this, a browser closes the dialog at a second Escape, even after the first was prevented.
      closedby={canClose ? 'closerequest' : 'none'}
      className={`w-[calc(100vw-32px)] rounded-md border border-line bg-raised p-0 shadow-float ${className}`}
    >
      {children}
    </dialog>
  );
}

interface Props extends Omit<ModalProps, 'label' | 'className'> {
  title: string;
  width?: 'narrow' | 'wide';
}

/** A modal with a title. */
export function Dialog({ title, onClose, children, width = 'narrow', canClose = true }: Props) {
  return (
    <Modal
      label={title}
      onClose={onClose}
      canClose={canClose}
      className={width === 'wide' ? 'max-w-[680px]' : 'max-w-[460px]'}
    >
      <header className="flex min-h-11 items-center justify-between gap-3 border-line border-b py-2 pr-2 pl-5">
        <h2 className="text-14">{title}</h2>
        {canClose && (
          <Button tone="quiet" size="small" icon aria-label="Close" onClick={onClose}>
            <X size={16} />
          </Button>
        )}
      </header>
      <div className="p-5">{children}</div>
    </Modal>
  );
}

/**
 * Opens a `<dialog>` as a modal while it is mounted. Afterwards the focus goes back to its element, or to the page if the
 * element is gone, such as the row of a deleted session.
 */
function useModal() {
  const ref = useRef<HTMLDialogElement>(null);
  // A layout effect runs before the dialog leaves the page. A removed dialog would not give the focus back.
  useLayoutEffect(() => {
    const before = openerOf(document.activeElement);
    const dialog = ref.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      requestAnimationFrame(() => {
        if (document.activeElement !== document.body) return;
        const back = before?.isConnected && before !== document.body ? before : document.querySelector('main');
        if (back instanceof HTMLElement) back.focus();
      });
    };
  }, []);
  return ref;
}

/** The element that gets the focus back. A menu disappears after a choice, so it is the button that opened the menu. */
function openerOf(element: Element | null): Element | null {
  const opener = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return opener ? document.getElementById(opener) : element;
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}
