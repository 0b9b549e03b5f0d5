import { Clock, Globe, LogOut, Monitor, Moon, Sun, Timer } from 'lucide-react';
import type { ComponentProps, ReactElement } from 'react';
import { useApp, usePerson } from '../app/app.ts';
import { useTheme, useTimeMode } from '../kit/appearance.ts';
import { Menu, MenuChoice, MenuGroup, MenuItem, MenuNote } from '../kit/menu.tsx';
import { showHidden } from '../kit/text/controls.ts';

const THEMES = [
  { value: 'system', label: 'System', icon: Monitor },
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
] as const;

const TIMES = [
  { value: 'clock', label: 'Local time', icon: Clock },
  { value: 'since start', label: 'Time since start', icon: Timer },
  { value: 'UTC', label: 'UTC', icon: Globe },
] as const;

/** The menu of the person. It is open as soon as it is mounted. */
export function PersonMenuItems({ trigger }: { trigger: ReactElement<ComponentProps<'button'>> }) {
  const { auth } = useApp();
  const { email, role } = usePerson();
  const [theme, setTheme] = useTheme();
  const [time, setTime] = useTimeMode();
  return (
    <Menu isOpenAtOnce side="top" align="start" trigger={trigger}>
      <MenuNote>
        {showHidden(email ?? 'You')} · {role}
      </MenuNote>
      <MenuChoice options={THEMES} value={theme} onChange={setTheme} />
      <MenuChoice options={TIMES} value={time} onChange={setTime} />
      <MenuGroup>
        <MenuItem icon={LogOut} onSelect={() => auth.signOut()}>
          Sign out
        </MenuItem>
      </MenuGroup>
    </Menu>
  );
}
