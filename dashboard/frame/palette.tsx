import { useNavigate, useSearch } from '@tanstack/react-router';
import { Command } from 'cmdk';
import {
  FlaskConical,
  KeyRound,
  Lock,
  LogOut,
  Moon,
  PlugZap,
  Scale,
  ScrollText,
  Search,
  SquareTerminal,
  Sun,
  UserPlus,
} from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { paths } from '../../contract/pages.ts';
import { useApp, useIsAdmin } from '../app/app.ts';
import { useSessions } from '../app/queries.ts';
import { useTheme } from '../kit/appearance.ts';
import { type Command as PageCommand, usePageCommands } from '../kit/commands.ts';
import { Modal } from '../kit/dialog.tsx';
import { agentName } from '../shared/agent-name.tsx';
import { titleOf } from '../shared/session-title.ts';
import { rankWords } from './palette-rank.ts';
import { PAGES } from './rail.tsx';

/** A part of the page “Organization”. */
const POLICY = { to: paths.policy(), label: 'Policy', icon: Scale };
/** Pages for admins only. They are not in the rail, which shows pages for every member. */
const OF_ADMINS = [
  { to: paths.audit(), label: 'Audit log', icon: ScrollText },
  { to: paths.holds(), label: 'Legal holds', icon: Lock },
];

/** A dialog that finds pages, actions and recent sessions by a few letters. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const { plane } = useSearch({ from: '__root__' });
  const sessions = useSessions({ plane }).data?.pages[0]?.sessions ?? [];
  const actions = useActions();
  const pages = [...PAGES, POLICY, ...(useIsAdmin() ? OF_ADMINS : [])];
  const [words, setWords] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const run = (does: () => unknown) => {
    onClose();
    void does();
  };
  return (
    <Modal label="Go to" onClose={onClose} className="mt-[12vh] max-w-[560px]">
      <Command label="Go to" className="flex flex-col" loop filter={rankWords}>
        <Command.Input
          ref={input}
          placeholder="Find a page, an action, a session or any words…"
          value={words}
          onValueChange={setWords}
          className="h-11 border-line border-b bg-transparent px-4 text-14 outline-none"
        />
        <Command.List className="max-h-[50vh] overflow-y-auto p-1">
          <Group heading="Pages">
            {pages.map(({ to, label, icon: Icon }) => (
              <Item key={to} value={`go to ${label}`} onSelect={() => run(() => navigate({ to }))}>
                <Icon size={16} aria-hidden />
                {label}
              </Item>
            ))}
          </Group>
          <Group heading="Actions">
            {actions.map(({ label, icon: Icon, does }) => (
              <Item key={label} value={label} onSelect={() => run(does)}>
                <Icon size={16} aria-hidden />
                {label}
              </Item>
            ))}
          </Group>
          {sessions.length > 0 && (
            <Group heading="Recent sessions">
              {sessions.map(({ session, summary }) => {
                const title = titleOf(session, summary);
                const { sessionId, agentId } = session;
                return (
                  <Item
                    key={sessionId}
                    value={`${title} ${agentName(agentId)} ${sessionId}`}
                    onSelect={() => run(() => navigate({ to: paths.session(sessionId) }))}
                  >
                    <SquareTerminal size={16} aria-hidden />
                    <span className="grow truncate">{title}</span>
                    <span className="whitespace-nowrap text-12 text-muted">{agentName(agentId)}</span>
                  </Item>
                );
              })}
            </Group>
          )}
          {words.trim() !== '' && (
            <Command.Group
              heading="Everywhere"
              className="**:[[cmdk-group-heading]]:px-2 **:[[cmdk-group-heading]]:pt-2 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-12/5 **:[[cmdk-group-heading]]:text-muted"
              forceMount
            >
              <Command.Item
                className="menu-item"
                forceMount
                value={`find ${words}`}
                onSelect={() => run(() => navigate({ to: paths.sessions(), search: { q: words } }))}
              >
                <Search size={16} aria-hidden />
                <span className="truncate">Find “{words.trim()}” in all sessions</span>
              </Command.Item>
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Modal>
  );
}

/** Actions that work everywhere, after those of the page on screen. */
function useActions(): readonly PageCommand[] {
  const commands = usePageCommands();
  const { auth } = useApp();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const { plane } = useSearch({ from: '__root__' });
  const [theme, setTheme] = useTheme();
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
    { label: 'Sign out', icon: LogOut, does: () => auth.signOut() },
  ];
}

const Group = ({ heading, children }: { heading: string; children: ReactNode }) => (
  <Command.Group
    heading={heading}
    className="**:[[cmdk-group-heading]]:px-2 **:[[cmdk-group-heading]]:pt-2 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-12/5 **:[[cmdk-group-heading]]:text-muted"
  >
    {children}
  </Command.Group>
);

const Item = (props: { value: string; onSelect: () => void; children: ReactNode }) => (
  <Command.Item className="menu-item" {...props} />
);
