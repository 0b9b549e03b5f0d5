import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';

interface Props {
  text: string | (() => string);
  label: string;
  onCopied?: () => void;
  /** The button gets the focus when it appears. */
  hasFocus?: boolean;
  /** The text of the button; without it, only the icon is shown. */
  children?: string;
}

export function CopyButton({ text, label, onCopied, hasFocus, children }: Props) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => {
        setOutcome('copied');
        onCopied?.();
      },
      // A browser may forbid it. The person can still copy the text by hand.
      () => setOutcome('refused'),
    );
    setTimeout(() => setOutcome(undefined), 3000);
  };
  const Icon = outcome === 'copied' ? Check : Copy;
  const said = outcome && (outcome === 'copied' ? 'Copied' : 'Select the text and copy it');
  return (
    <Button
      size="small"
      tone="quiet"
      icon={!children}
      aria-label={children ? undefined : label}
      title={said ?? label}
      onClick={() => void copy()}
      autoFocus={hasFocus}
    >
      <Icon size={14} className={outcome === 'copied' ? 'text-ok' : ''} />
      {children && <span className={outcome === 'refused' ? '' : 'max-sm:sr-only'}>{said ?? children}</span>}
      <span role="status" className="sr-only">
        {said}
      </span>
    </Button>
  );
}

/** One line to run or to keep, with a copy button. */
export function CopyLine({ text, ...rest }: Omit<Props, 'children'> & { text: string }) {
  return (
    <div className="flex w-full min-w-0 items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard */}
      <code tabIndex={0} className="min-w-0 grow overflow-x-auto whitespace-pre py-1 text-13" onCopy={rest.onCopied}>
        {text}
      </code>
      <CopyButton text={text} {...rest} />
    </div>
  );
}
