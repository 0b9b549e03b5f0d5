import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Session } from '../../contract/session.ts';
import { paths } from '../app/paths.ts';
import { Button } from '../kit/button.tsx';
import { DeleteDialog } from '../shared/delete-dialog.tsx';

/** Asks, deletes the session for good, and goes back to the list. */
export function DeleteSession({ session }: { session: Session }) {
  const [isAsking, setIsAsking] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Button size="small" tone="quiet" icon aria-label="Delete the session" onClick={() => setIsAsking(true)}>
        <Trash2 size={14} />
      </Button>
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
