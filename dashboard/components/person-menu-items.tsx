import { LogOut, Monitor, Moon, Rows3, Rows4, Sun } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import type { ReactNode } from 'react';
import { useApp, usePerson } from '../app.ts';
import { useDensity, useTheme } from '../ui/appearance.ts';

const THEMES = [
  { theme: 'system', label: 'As the system', icon: Monitor },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
] as const;

const DENSITIES = [
  { density: 'roomy', label: 'Roomy rows', icon: Rows3 },
  { density: 'compact', label: 'Compact rows', icon: Rows4 },
] as const;

/** Open from the start. Not modal: a modal menu would write a style element, which the page's policy forbids. */
export function PersonMenuItems({ trigger }: { trigger: ReactNode }) {
  const { auth } = useApp();
  const { email, role } = usePerson();
  const [theme, setTheme] = useTheme();
  const [density, setDensity] = useDensity();
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content className="menu" side="top" align="start" sideOffset={4}>
          <DropdownMenu.Label className="px-2 py-1 text-12 text-muted">
            {email ?? 'You'} · {role}
          </DropdownMenu.Label>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.RadioGroup value={theme} onValueChange={(value) => setTheme(value as typeof theme)}>
            {THEMES.map(({ theme: value, label, icon: Icon }) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
                <Icon size={16} aria-hidden />
                {label}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
          <DropdownMenu.Separator className="menu-line" />
          <DropdownMenu.RadioGroup value={density} onValueChange={(value) => setDensity(value as typeof density)}>
            {DENSITIES.map(({ density: value, label, icon: Icon }) => (
              <DropdownMenu.RadioItem key={value} value={value} className="menu-item">
                <Icon size={16} aria-hidden />
                {label}
              </DropdownMenu.RadioItem>
            ))}
          </DropdownMenu.RadioGroup>
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
