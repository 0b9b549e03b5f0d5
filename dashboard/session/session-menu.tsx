import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { Session } from '../../contract/session.ts';
import { useIsAdmin } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { Button } from '../kit/button.tsx';
import { lazyPart } from '../kit/lazy.tsx';
import { Menu, MenuItem } from '../kit/menu.tsx';
import { DeleteDialog } from '../shared/delete-dialog.tsx';
import { VisibilityDialog } from '../shared/visibility.tsx';

// Rarely needed, and the page is read before.
const ShareDialog = lazyPart(() => import('../share/share-dialog.tsx'), 'ShareDialog');

/** What is rarely done with a session. */
export function SessionMenu({ session, onHelp }: { session: Session; onHelp: () => void }) {
  const isAdmin = useIsAdmin();
  const [isChoosing, setIsChoosing] = useState(false);
  const [isSharing, setIsSharing] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Menu
        trigger={
          <Button size="small" tone="quiet" icon aria-label="More">
            <Ellipsis size={14} />
          </Button>
        }
      >
        <MenuItem onSelect={onHelp}>Keyboard shortcuts</MenuItem>
        {session.mayChangeVisibility && <MenuItem onSelect={() => setIsChoosing(true)}>Who may see it…</MenuItem>}
        <MenuItem onSelect={() => setIsSharing(true)}>Share…</MenuItem>
        {isAdmin && (
          <MenuItem onSelect={() => void navigate({ to: '/holds', search: { session: session.sessionId } })}>
            Place a hold…
          </MenuItem>
        )}
        {isAdmin && <MenuItem onSelect={() => setIsAsking(true)}>Delete…</MenuItem>}
      </Menu>
      {isChoosing && <VisibilityDialog session={session} onClose={() => setIsChoosing(false)} />}
      {isSharing && (
        <Suspense>
          <ShareDialog session={session} onClose={() => setIsSharing(false)} />
        </Suspense>
      )}
      {isAsking && (
        <DeleteDialog
          session={session}
          onDeleted={() => void navigate({ to: paths.sessions() })}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  );
}
