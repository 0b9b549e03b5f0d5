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

const LINK =
  'flex min-h-8 w-full flex-none cursor-pointer items-center gap-2 rounded-md px-2 text-left text-muted hover:bg-hover hover:text-text max-[1000px]:px-2.5 aria-[current=page]:bg-hover aria-[current=page]:font-semibold aria-[current=page]:text-text [&_svg]:flex-none';

interface Props {
  /** On a small screen, the rail is only shown while it is open. */
  isOpen: boolean;
  onNavigate: () => void;
  onPalette: () => void;
}

export function Rail({ isOpen, onNavigate, onPalette }: Props) {
  const { organization, adminsSeeAll } = usePerson();
  return (
    <header
      className={`flex min-h-0 flex-col overflow-y-auto px-2 pt-3 pb-2 text-13 max-sm:fixed max-sm:inset-y-0 max-sm:left-0 max-sm:z-20 max-sm:w-60 max-sm:bg-(--frame) max-sm:shadow-float print:hidden ${isOpen ? '' : 'max-sm:invisible max-sm:-translate-x-full'}`}
    >
      <div
        className="mb-2 flex h-8 flex-none items-center gap-2 px-2 text-14 max-[1000px]:px-[9px] [&_svg]:flex-none"
        title={showHidden(organization.name)}
      >
        <Mark />
        <span className={`${WORD} truncate font-semibold`}>{showHidden(organization.name)}</span>
      </div>
      <PlaneSwitch />
      <button type="button" className={`${LINK} mb-2`} onClick={onPalette}>
        <Search size={16} aria-hidden />
        <span className={`${WORD} grow text-left`}>Go to…</span>
        <kbd aria-hidden className={`${WORD} kbd`}>
          {COMMAND_KEY}K
        </kbd>
      </button>
      {/* On low and on enlarged screens, the pages scroll, so that the person stays in sight. */}
      <nav aria-label="Main" className="flex min-h-16 flex-col gap-px overflow-y-auto">
        {PAGES.map(({ to, label, icon: Icon }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === paths.home(), includeSearch: false }}
            className={LINK}
            title={label}
            onClick={onNavigate}
          >
            <Icon size={16} aria-hidden />
            <span className={WORD}>{label}</span>
          </Link>
        ))}
      </nav>
      <div className="flex-none grow" />
      {adminsSeeAll && (
        <Link
          to={paths.policy()}
          className={`${LINK} mb-2`}
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

/** Chooses the plane of the sessions that all pages show. On a rail of icons, the options are stacked, so that all of them are visible. */
function PlaneSwitch() {
  const { plane: current } = useSearch({ from: '__root__' });
  const navigate = useNavigate();
  return (
    <div className="mb-2 flex-none sm:max-[1000px]:[&_.choice]:flex-col sm:max-[1000px]:[&_.choice_button]:flex-none sm:max-[1000px]:[&_.choice_button]:px-0">
      <Choice
        label="Plane"
        look="wide"
        options={PLANES}
        value={current}
        onChange={(plane) => void navigate({ to: '.', search: (search) => ({ ...search, plane }) })}
      />
    </div>
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
      className={LINK}
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
