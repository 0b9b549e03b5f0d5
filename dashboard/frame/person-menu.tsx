import { UserRound } from 'lucide-react';
import { Suspense, useState } from 'react';
import { usePerson } from '../app/app.ts';
import { Boundary } from '../kit/boundary.tsx';
import { lazyPart } from '../kit/lazy.tsx';
import { showHidden } from '../kit/text/controls.ts';

/** Loaded on demand: menus are a tenth of all code, and no page needs one to be drawn. */
const Items = lazyPart(() => import('./person-menu-items.tsx'), 'PersonMenuItems');

export function PersonMenu() {
  const name = showHidden(usePerson().email ?? 'You');
  const [isAsked, setAsked] = useState(false);
  const trigger = (
    <button
      type="button"
      className="rail-link"
      aria-haspopup="menu"
      aria-label={`${name}: theme, density, times, sign out`}
      onPointerEnter={() => void Items.preload()}
      onClick={() => setAsked(true)}
    >
      <UserRound size={16} aria-hidden />
      <span className="rail-word truncate">{name}</span>
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
