import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { Suspense, useState } from 'react';
import { CONTINUED_AGENTS } from '../../contract/catalog.ts';
import { paths } from '../../contract/pages.ts';
import type { Session } from '../../contract/session.ts';
import { useIsAdmin } from '../app/app.ts';
import { Button } from '../kit/button.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { lazyPart } from '../kit/lazy.tsx';
import { Menu, MenuGroup, MenuItem } from '../kit/menu.tsx';
import { DeleteDialog } from '../shared/delete-dialog.tsx';
import { VisibilityDialog } from '../shared/visibility.tsx';

// Loaded on demand, since it is rarely needed.
const ShareDialog = lazyPart(() => import('./share-dialog.tsx'), 'ShareDialog');

interface Props {
  session: Session;
  onHelp: () => void;
  /** Absent if the person may not read its content. */
  onMask: (() => void) | undefined;
}

/** A menu of rare actions on a session. */
export function SessionMenu({ session, onHelp, onMask }: Props) {
  const isAdmin = useIsAdmin();
  const [open, setOpen] = useState<'visibility' | 'share' | 'continuing' | 'deletion'>();
  const navigate = useNavigate();
  const close = () => setOpen(undefined);
  return (
    <>
      <Menu
        trigger={
          <Button size="small" tone="quiet" icon aria-label="More">
            <Ellipsis size={14} />
          </Button>
        }
      >
        <MenuGroup>
          <MenuItem onSelect={onHelp}>Keyboard shortcuts</MenuItem>
        </MenuGroup>
        <MenuGroup>
          {session.mayChangeVisibility && <MenuItem onSelect={() => setOpen('visibility')}>Who may see it…</MenuItem>}
          <MenuItem onSelect={() => setOpen('share')}>Share…</MenuItem>
          {onMask && CONTINUED_AGENTS.has(session.agentId) && (
            <MenuItem onSelect={() => setOpen('continuing')}>Continue on your machine…</MenuItem>
          )}
        </MenuGroup>
        {(onMask || isAdmin) && (
          <MenuGroup>
            {onMask && <MenuItem onSelect={onMask}>Mask a text…</MenuItem>}
            {isAdmin && (
              <MenuItem onSelect={() => void navigate({ to: '/holds', search: { session: session.sessionId } })}>
                Place a hold…
              </MenuItem>
            )}
            {isAdmin && <MenuItem onSelect={() => setOpen('deletion')}>Delete…</MenuItem>}
          </MenuGroup>
        )}
      </Menu>
      {open === 'visibility' && <VisibilityDialog session={session} onClose={close} />}
      <Suspense>{open === 'share' && <ShareDialog session={session} onClose={close} />}</Suspense>
      {open === 'continuing' && (
        <Dialog title="Continue this session on your machine" onClose={close}>
          <div className="flex flex-col gap-3 text-13">
            <p>
              Run this in the folder where the agent should continue. It prints the command that continues the session.
            </p>
            <CopyLine text={`capture resume ${session.sessionId}`} label="Copy the command" />
            <p className="text-muted">
              You confirm that the machine may read your sessions for 15 minutes. What you add becomes a session of its
              own.
            </p>
          </div>
        </Dialog>
      )}
      {open === 'deletion' && (
        <DeleteDialog session={session} onClose={close} onDeleted={() => void navigate({ to: paths.sessions() })} />
      )}
    </>
  );
}
