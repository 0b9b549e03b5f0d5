import { Clock, Globe, LogOut, type LucideIcon, Monitor, Moon, Rows3, Rows4, Sun, Timer } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { useApp, usePerson } from '../app/app.ts';
import { useDensity, useTheme, useTimeMode } from '../kit/appearance.ts';
import { showHidden } from '../kit/text/controls.ts';

const THEMES = [
  { value: 'system', label: 'System', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
] as const;

const DENSITIES = [
  { value: 'roomy', label: 'Comfortable rows', icon: Rows3 },
  { value: 'compact', label: 'Compact rows', icon: Rows4 },
] as const;

const TIMES = [
  { value: 'clock', label: 'Local time', icon: Clock },
  { value: 'since start', label: 'Time since start', icon: Timer },
  { value: 'UTC', label: 'UTC', icon: Globe },
] as const;

/** Open from the start. Not modal: a modal menu would write a style element, which the page's policy forbids. */
export function PersonMenuItems({ trigger }: { trigger: ReactNode }) {
  const { auth } = useApp();
  const { email, role } = usePerson();
  const [theme, setTheme] = useTheme();
  const [density, setDensity] = useDensity();
  const [time, setTime] = useTimeMode();
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" side="top" align="start" sideOffset={4}>
          <DropdownMenu.Label className="px-2 py-1 text-12 text-muted">
            {showHidden(email ?? 'You')} · {role}
          </DropdownMenu.Label>
          <DropdownMenu.Separator className="menu-line" />
          <Choices options={THEMES} value={theme} onChange={setTheme} />
          <DropdownMenu.Separator className="menu-line" />
          <Choices options={DENSITIES} value={density} onChange={setDensity} />
          <DropdownMenu.Separator className="menu-line" />
          <Choices options={TIMES} value={time} onChange={setTime} />
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.Item className="menu-item" onSelect={() => void auth.signOut()}>
            <LogOut size={16} aria-hidden />
            Sign out
          </DropdownMenu.Item>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

interface ChoicesProps<Value extends string> {
  options: readonly { value: Value; label: string; icon: LucideIcon }[];
  value: Value;
  onChange: (value: Value) => void;
}

const Choices = <Value extends string>({ options, value: chosen, onChange }: ChoicesProps<Value>) => (
  <DropdownMenu.RadioGroup value={chosen} onValueChange={(value) => onChange(value as Value)}>
    {options.map(({ value, label, icon: Icon }) => (
      <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
        <Icon size={16} aria-hidden />
        {label}
      </DropdownMenu.RadioItem>
    ))}
  </DropdownMenu.RadioGroup>
);
