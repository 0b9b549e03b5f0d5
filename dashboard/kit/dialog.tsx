import { X } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { Button } from './button.tsx';

interface ModalProps {
  label: string;
  onClose: () => void;
  children: ReactNode;
  className: string;
  /** Neither Escape nor a click beside it closes it, since something in it would be lost. */
  isHeld?: boolean;
}

/** A box above the page. The browser's own `<dialog>` traps the focus and closes on Escape. */
export function Modal({ label, onClose, children, className, isHeld = false }: ModalProps) {
  const ref = useModal();
  return (
    <dialog
      ref={ref}
      aria-label={label}
      onCancel={(event) => {
        // It closes when its opener takes it away, and the focus goes back then.
        event.preventDefault();
        if (!isHeld) onClose();
      }}
      onClick={(event) => event.target === ref.current && !isHeld && onClose()}
      onKeyDown={(event) => {
        event.stopPropagation();
      }}
      // A browser closes the dialog at a second Escape, even after the first was prevented.
      closedby={isHeld ? 'none' : 'closerequest'}
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
export function Dialog({ title, onClose, children, width = 'narrow', isHeld = false }: Props) {
  return (
    <Modal
      label={title}
      onClose={onClose}
      isHeld={isHeld}
      className={width === 'wide' ? 'max-w-[680px]' : 'max-w-[460px]'}
    >
      <header className="flex min-h-11 items-center justify-between gap-3 border-line border-b py-2 pr-2 pl-5">
        <h2 className="text-14">{title}</h2>
        {!isHeld && (
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
 * Opens a `<dialog>` as a modal while it is drawn. The focus then goes back to where it was, or where that is gone, as the
 * row of something that was deleted, to the page.
 */
function useModal() {
  const ref = useRef<HTMLDialogElement>(null);
  // Before anything is taken off the page: a dialog that is no longer there gives no focus back.
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

/** A menu goes with what was chosen of it; the button that opened it stays. */
function openerOf(element: Element | null): Element | null {
  const opener = element?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return opener ? document.getElementById(opener) : element;
}

/** The row of buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}
