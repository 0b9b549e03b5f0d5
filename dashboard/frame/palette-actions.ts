import { useNavigate, useSearch } from '@tanstack/react-router';
import { FlaskConical, KeyRound, LogOut, Moon, PlugZap, Rows4, Sun, UserPlus } from 'lucide-react';
import { useApp, useIsAdmin } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { useDensity, useTheme } from '../kit/appearance.ts';
import { type Command, usePageCommands } from '../kit/commands.ts';

/** Actions that work everywhere, after those of the page on screen. */
export function useActions(): readonly Command[] {
  const commands = usePageCommands();
  const { auth } = useApp();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const { plane } = useSearch({ from: '__root__' });
  const [theme, setTheme] = useTheme();
  const [density, setDensity] = useDensity();
  const show = (next: 'test' | undefined) => () =>
    navigate({ to: '.', search: (search) => ({ ...search, plane: next }) });
  const isDark = theme === 'dark' || (theme === 'system' && window.matchMedia('(prefers-color-scheme: dark)').matches);
  return [
    { label: 'Connect a machine', icon: PlugZap, does: () => navigate({ to: paths.welcome() }) },
    ...commands,
    ...(isAdmin
      ? [
          { label: 'Issue a secret', icon: KeyRound, does: () => navigate({ to: paths.secrets(), hash: 'issue' }) },
          { label: 'Invite a member', icon: UserPlus, does: () => navigate({ to: paths.members(), hash: 'invite' }) },
        ]
      : []),
    plane === 'test'
      ? { label: 'Show the live plane', icon: FlaskConical, does: show(undefined) }
      : { label: 'Show the test plane', icon: FlaskConical, does: show('test') },
    isDark
      ? { label: 'Use the light theme', icon: Sun, does: () => setTheme('light') }
      : { label: 'Use the dark theme', icon: Moon, does: () => setTheme('dark') },
    density === 'compact'
      ? { label: 'Use roomy rows', icon: Rows4, does: () => setDensity('roomy') }
      : { label: 'Use compact rows', icon: Rows4, does: () => setDensity('compact') },
    { label: 'Sign out', icon: LogOut, does: () => auth.signOut() },
  ];
}
