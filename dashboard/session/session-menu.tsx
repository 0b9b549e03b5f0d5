import { useNavigate } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import type { Session } from '../../contract/session.ts';
import { useIsAdmin } from '../app/app.ts';
import { paths } from '../app/paths.ts';
import { Button } from '../kit/button.tsx';
import { DeleteDialog } from '../shared/delete-dialog.tsx';

/** What is rarely done with a session. */
export function SessionMenu({ session, onHelp }: { session: Session; onHelp: () => void }) {
  const isAdmin = useIsAdmin();
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button size="small" tone="quiet" icon aria-label="More">
            <Ellipsis size={14} />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end">
            <DropdownMenu.Item className="menu-item" onSelect={onHelp}>
              Keyboard shortcuts
            </DropdownMenu.Item>
            {isAdmin && (
              <DropdownMenu.Item className="menu-item" onSelect={() => setIsAsking(true)}>
                Delete…
              </DropdownMenu.Item>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
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
