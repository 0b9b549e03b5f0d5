import { Check } from 'lucide-react';
import type { ReactNode } from 'react';

interface Props {
  number: number;
  title: string;
  isDone?: boolean;
  /** The step waits for an earlier one. */
  isLater?: boolean;
  children?: ReactNode;
}

/** A step of the welcome page. */
export function Step({ number, title, isDone = false, isLater = false, children }: Props) {
  const tone = isDone ? 'border-ok text-ok' : isLater ? 'border-line text-muted' : 'border-line-strong';
  return (
    <li className="flex gap-4" data-done={isDone} aria-current={!isDone && !isLater ? 'step' : undefined}>
      <span className={`flex size-6 flex-none items-center justify-center rounded-full border text-12 ${tone}`}>
        {isDone ? <Check size={14} aria-label="Done:" /> : number}
      </span>
      <div className="flex min-w-0 grow flex-col gap-1">
        <h2 className={`text-14 leading-6 ${isLater ? 'text-muted' : ''}`}>{title}</h2>
        {children}
      </div>
    </li>
  );
}
