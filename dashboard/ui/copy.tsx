import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';

interface Props {
  text: string | (() => string);
  label: string;
  /** Without it only the icon is shown. */
  children?: string;
}

export function CopyButton({ text, label, children }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text());
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  const Icon = copied ? Check : Copy;
  return (
    <Button
      size="small"
      tone="quiet"
      icon={!children}
      aria-label={children ? undefined : copied ? 'Copied' : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon size={14} className={copied ? 'text-ok' : ''} />
      {children && (copied ? 'Copied' : children)}
    </Button>
  );
}

/** One line to be run or kept, with its copy button. */
export function CopyLine({ text, label }: { text: string; label: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keyboard */}
      <code tabIndex={0} className="grow overflow-x-auto whitespace-pre py-1 text-13">
        {text}
      </code>
      <CopyButton text={text} label={label} />
    </div>
  );
}
