import { Link, useNavigate, useSearch } from '@tanstack/react-router';
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
  UserRound,
  Users,
} from 'lucide-react';
import { Suspense, useState } from 'react';
import { paths } from '../../contract/pages.ts';
import { usePerson } from '../app/app.ts';
import { Boundary } from '../kit/boundary.tsx';
import { Choice } from '../kit/choice.tsx';
import { lazyPart } from '../kit/lazy.tsx';
import { COMMAND_KEY } from '../kit/platform.ts';
import { showHidden } from '../kit/text/controls.ts';
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

/** On a rail of icons, a word is hidden, but it is still the name of its link. */
const WORD = 'sm:max-[1000px]:sr-only';

export function Rail({ onNavigate, onPalette }: { onNavigate: () => void; onPalette: () => void }) {
  const { organization, adminsSeeAll } = usePerson();
  return (
    <header className="rail">
      <div
        className="mb-2 flex h-8 items-center gap-2 px-2 text-14 max-[1000px]:px-[9px] [&_svg]:flex-none"
        title={showHidden(organization.name)}
      >
        <Mark />
        <span className={`${WORD} truncate font-semibold`}>{showHidden(organization.name)}</span>
      </div>
      <PlaneSwitch />
      <button type="button" className="rail-link mb-2" onClick={onPalette}>
        <Search size={16} aria-hidden />
        <span className={`${WORD} grow text-left`}>Go to…</span>
        <kbd aria-hidden className={`${WORD} kbd`}>
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
            <span className={WORD}>{label}</span>
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
          <span className={WORD}>Admins see all sessions</span>
        </Link>
      )}
      <PersonMenu />
    </header>
  );
}

const PLANES = [
  { value: undefined, label: 'Live' },
  { value: 'test', label: 'Test', tone: 'test' },
  { value: 'all', label: 'All' },
] as const;

/** Chooses the plane of the sessions that all pages show. */
function PlaneSwitch() {
  const { plane: current } = useSearch({ from: '__root__' });
  const navigate = useNavigate();
  return (
    <Choice
      label="Plane"
      look="wide"
      options={PLANES}
      value={current}
      onChange={(plane) => void navigate({ to: '.', search: (search) => ({ ...search, plane }) })}
    />
  );
}

/** Loaded on demand: menus are a tenth of all code, and no page needs one to be drawn. */
const Items = lazyPart(() => import('./person-menu-items.tsx'), 'PersonMenuItems');

function PersonMenu() {
  const name = showHidden(usePerson().email ?? 'You');
  const [isAsked, setAsked] = useState(false);
  const trigger = (
    <button
      type="button"
      className="rail-link"
      aria-haspopup="menu"
      aria-label={`${name}: theme, times, sign out`}
      onPointerEnter={() => void Items.preload()}
      onClick={() => setAsked(true)}
    >
      <UserRound size={16} aria-hidden />
      <span className={`${WORD} truncate`}>{name}</span>
    </button>
  );
  if (!isAsked) return trigger;
  return (
    <Boundary of="The menu" fallback={trigger}>
      <Suspense fallback={trigger}>
        <Items trigger={trigger} />
      </Suspense>
    </Boundary>
  );
}
