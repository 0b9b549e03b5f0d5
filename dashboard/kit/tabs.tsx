import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

interface Props<Tab extends string> {
  label: string;
  tabs: readonly Tab[];
  current: Tab;
  onChange: (tab: Tab) => void;
  /** Content above the tabs. */
  before?: ReactNode;
  /** Whether it fills the height of its parent and its content scrolls. */
  fills?: boolean;
  children: ReactNode;
}

/** Tabs that switch between contents. A single content gets no tab. */
export function Tabs<Tab extends string>({ label, tabs, current, onChange, before, fills, children }: Props<Tab>) {
  const area = fills ? 'flex min-h-0 grow flex-col' : 'flex flex-col gap-2';
  return (
    <Radix.Root value={current} onValueChange={(tab) => onChange(tab as Tab)} className={area}>
      {before}
      {tabs.length > 1 && (
        <Radix.List aria-label={label} className="tabs" data-fills={fills}>
          {tabs.map((tab) => (
            <Radix.Trigger key={tab} value={tab}>
              {tab}
            </Radix.Trigger>
          ))}
        </Radix.List>
      )}
      <Radix.Content value={current} tabIndex={fills ? -1 : undefined} className={area}>
        {children}
      </Radix.Content>
    </Radix.Root>
  );
}
