import { Link } from '@tanstack/react-router';
import {
  Activity,
  Bot,
  Building2,
  Eye,
  KeyRound,
  type LucideIcon,
  Monitor,
  Puzzle,
  Search,
  SquareTerminal,
  Users,
} from 'lucide-react';
import { usePerson } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { COMMAND_KEY } from '../kit/platform.ts';
import { showHidden } from '../kit/text/controls.ts';
import { PersonMenu } from './person-menu.tsx';
import { PlaneSwitch } from './plane-switch.tsx';
import { Mark } from './wordmark.tsx';

export const PAGES: readonly { to: string; label: string; icon: LucideIcon }[] = [
  { to: paths.home(), label: 'Overview', icon: Activity },
  { to: paths.sessions(), label: 'Sessions', icon: SquareTerminal },
  { to: paths.addOns(), label: 'Add-ons', icon: Puzzle },
  { to: paths.environments(), label: 'Machines', icon: Monitor },
  { to: paths.agents(), label: 'Agents', icon: Bot },
  { to: paths.members(), label: 'Members', icon: Users },
  { to: paths.secrets(), label: 'Secrets', icon: KeyRound },
  { to: paths.organization(), label: 'Organization', icon: Building2 },
];

export function Rail({ onNavigate, onPalette }: { onNavigate: () => void; onPalette: () => void }) {
  const { organization, adminsSeeAll } = usePerson();
  return (
    <header className="rail">
      <div className="rail-title" title={showHidden(organization.name)}>
        <Mark />
        <span className="rail-word truncate font-semibold">{showHidden(organization.name)}</span>
      </div>
      <PlaneSwitch />
      <button type="button" className="rail-link mb-2" onClick={onPalette}>
        <Search size={16} aria-hidden />
        <span className="rail-word grow text-left">Go to…</span>
        <kbd aria-hidden className="rail-word kbd">
          {COMMAND_KEY}K
        </kbd>
      </button>
      <nav aria-label="Main" className="flex flex-col gap-px">
        {PAGES.map(({ to, label, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === paths.home(), includeSearch: false }}
            className="rail-link"
            title={label}
            onClick={onNavigate}
          >
            <Icon size={16} aria-hidden />
            <span className="rail-word">{label}</span>
          </Link>
        ))}
      </nav>
      <div className="grow" />
      {adminsSeeAll && (
        <Link
          to={paths.policy()}
          className="rail-link mb-2"
          title="Owners and admins read every session"
          onClick={onNavigate}
        >
          <Eye size={16} aria-hidden />
          <span className="rail-word">Admins see all sessions</span>
        </Link>
      )}
      <PersonMenu />
    </header>
  );
}
