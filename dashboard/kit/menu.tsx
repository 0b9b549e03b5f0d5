import type { LucideIcon } from 'lucide-react';
import {
  type ComponentProps,
  cloneElement,
  createContext,
  type ReactElement,
  type ReactNode,
  Suspense,
  use,
  useRef,
  useState,
} from 'react';
import { Boundary } from './boundary.tsx';
import { lazyPart } from './lazy.tsx';
import type { MenuParts } from './menu-parts.tsx';

/** Loaded with the first menu that is opened, since no page needs a menu to be drawn. */
const WithMenuParts = lazyPart(() => import('./menu-parts.tsx'), 'WithMenuParts');

interface Props {
  /** The button that opens the menu. */
  trigger: ReactElement<ComponentProps<'button'>>;
  side?: 'top' | 'bottom';
  align?: 'start' | 'end';
  /** The menu is open as soon as it is mounted. */
  isOpenAtOnce?: boolean;
  onOpen?: () => void;
  children: ReactNode;
}

type Asked = 'by the page' | 'by a key' | 'by the pointer';

/** A menu below its button. */
export function Menu({ isOpenAtOnce = false, ...props }: Props) {
  const [asked, setAsked] = useState<Asked | undefined>(isOpenAtOnce ? 'by the page' : undefined);
  const button = cloneElement(props.trigger, {
    'aria-haspopup': 'menu',
    onPointerEnter: () => void WithMenuParts.preload(),
    onClick(event) {
      setAsked(event.detail === 0 ? 'by a key' : 'by the pointer');
      props.onOpen?.();
    },
  });
  if (!asked) return button;
  return (
    <Boundary of="The menu" fallback={button}>
      <Suspense fallback={button}>
        <WithMenuParts>
          {(parts) => (
            <Parts value={parts}>
              <LoadedMenu {...props} asked={asked} parts={parts} />
            </Parts>
          )}
        </WithMenuParts>
      </Suspense>
    </Boundary>
  );
}

const Parts = createContext<MenuParts | undefined>(undefined);

function useParts(): MenuParts {
  const parts = use(Parts);
  if (!parts) throw new Error('This part of a menu must be inside a menu.');
  return parts;
}

interface LoadedProps extends Omit<Props, 'isOpenAtOnce'> {
  asked: Asked;
  parts: MenuParts;
}

/** Not modal: a modal menu writes a style element, which the content security policy forbids. */
function LoadedMenu({ trigger, side = 'bottom', align = 'end', onOpen, children, asked, parts }: LoadedProps) {
  const { Root, Trigger, Portal, Content } = parts;
  // After a key, the first item gets the focus. The library was not loaded when the key was pressed, so it is done here.
  const isFirstFocus = useRef(asked === 'by a key');
  return (
    <Root modal={false} defaultOpen onOpenChange={(isOpen) => isOpen && onOpen?.()}>
      <Trigger asChild>{trigger}</Trigger>
      <Portal>
        <Content
          className="menu"
          side={side}
          align={align}
          sideOffset={4}
          onFocus={({ currentTarget }) => {
            if (!isFirstFocus.current) return;
            isFirstFocus.current = false;
            currentTarget.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
          }}
        >
          {children}
        </Content>
      </Portal>
    </Root>
  );
}

interface ItemProps {
  onSelect: () => unknown;
  /** Whether this is the current choice. */
  isCurrent?: boolean;
  icon?: LucideIcon;
  children: ReactNode;
}

export function MenuItem({ onSelect, isCurrent = false, icon: Icon, children }: ItemProps) {
  const { Item } = useParts();
  return (
    <Item className="menu-item" data-state={isCurrent ? 'checked' : undefined} onSelect={() => void onSelect()}>
      {Icon && <Icon size={16} aria-hidden />}
      <span className="truncate">{children}</span>
    </Item>
  );
}

/** Items that belong together, under a title if they have one. */
export function MenuGroup({ title, children }: { title?: ReactNode; children: ReactNode }) {
  const { Group, Label } = useParts();
  if (title === undefined) return <div className="menu-group">{children}</div>;
  return (
    <Group className="menu-group">
      <Label className="menu-title">{title}</Label>
      {children}
    </Group>
  );
}

export const MenuNote = ({ children }: { children: ReactNode }) => <p className="menu-title">{children}</p>;

interface CheckProps {
  isChecked: boolean;
  onToggle: () => void;
  children: ReactNode;
}

/** An item that is on or off. The menu stays open. */
export function MenuCheck({ isChecked, onToggle, children }: CheckProps) {
  const { CheckboxItem } = useParts();
  return (
    <CheckboxItem
      className="menu-item"
      checked={isChecked}
      onSelect={(event) => event.preventDefault()}
      onCheckedChange={onToggle}
    >
      {children}
    </CheckboxItem>
  );
}

interface ChoiceProps<Value extends string> {
  options: readonly { value: Value; label: string; icon: LucideIcon }[];
  value: Value;
  onChange: (value: Value) => void;
}

/** A choice between items. */
export function MenuChoice<Value extends string>({ options, value: chosen, onChange }: ChoiceProps<Value>) {
  const { RadioGroup, RadioItem } = useParts();
  return (
    <RadioGroup className="menu-group" value={chosen} onValueChange={(value) => onChange(value as Value)}>
      {options.map(({ value, label, icon: Icon }) => (
        <RadioItem key={value} value={value} className="menu-item">
          <Icon size={16} aria-hidden />
          {label}
        </RadioItem>
      ))}
    </RadioGroup>
  );
}
