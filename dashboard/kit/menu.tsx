import type { LucideIcon } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';

interface Props {
  /** The button that opens the menu. */
  trigger: ReactNode;
  side?: 'top' | 'bottom';
  align?: 'start' | 'end';
  /** Open as soon as it is drawn. */
  isOpenAtOnce?: boolean;
  onOpen?: () => void;
  children: ReactNode;
}

/** A menu below its button. Not modal: a modal menu writes a style element, which the content security policy forbids. */
export function Menu({ trigger, side = 'bottom', align = 'end', isOpenAtOnce = false, onOpen, children }: Props) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen={isOpenAtOnce} onOpenChange={(isOpen) => isOpen && onOpen?.()}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" side={side} align={align} sideOffset={4}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ItemProps {
  onSelect: () => unknown;
  /** The choice that is in effect. */
  isCurrent?: boolean;
  icon?: LucideIcon;
  children: ReactNode;
}

export const MenuItem = ({ onSelect, isCurrent = false, icon: Icon, children }: ItemProps) => (
  <DropdownMenu.Item
    className="menu-item"
    data-state={isCurrent ? 'checked' : undefined}
    onSelect={() => void onSelect()}
  >
    {Icon && <Icon size={16} aria-hidden />}
    <span className="truncate">{children}</span>
  </DropdownMenu.Item>
);

/** Items that belong together, under a title if they have one. */
export const MenuGroup = ({ title, children }: { title?: ReactNode; children: ReactNode }) =>
  title === undefined ? (
    <div className="menu-group">{children}</div>
  ) : (
    <DropdownMenu.Group className="menu-group">
      <DropdownMenu.Label className="menu-title">{title}</DropdownMenu.Label>
      {children}
    </DropdownMenu.Group>
  );

export const MenuNote = ({ children }: { children: ReactNode }) => <p className="menu-title">{children}</p>;

interface CheckProps {
  isChecked: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** An item that is on or off. The menu stays open. */
export const MenuCheck = ({ isChecked, onToggle, children }: CheckProps) => (
  <DropdownMenu.CheckboxItem
    className="menu-item"
    checked={isChecked}
    onSelect={(event) => event.preventDefault()}
    onCheckedChange={onToggle}
  >
    {children}
  </DropdownMenu.CheckboxItem>
);

interface ChoiceProps<Value extends string> {
  options: readonly { value: Value; label: string; icon: LucideIcon }[];
  value: Value;
  onChange: (value: Value) => void;
}

/** Items to choose one from. */
export const MenuChoice = <Value extends string>({ options, value: chosen, onChange }: ChoiceProps<Value>) => (
  <DropdownMenu.RadioGroup className="menu-group" value={chosen} onValueChange={(value) => onChange(value as Value)}>
    {options.map(({ value, label, icon: Icon }) => (
      <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
        <Icon size={16} aria-hidden />
        {label}
      </DropdownMenu.RadioItem>
    ))}
  </DropdownMenu.RadioGroup>
);
