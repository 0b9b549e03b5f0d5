import { useNavigate } from '@tanstack/react-router';
import { Bookmark } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { type FormEvent, useState } from 'react';
import { usePerson } from '../app/app.ts';
import type { SessionSearch } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { isSameSearch, useViews } from './views.ts';

/** Saved views: to go to one, to save what is shown, to forget the one that is shown. */
export function ViewMenu({ search }: { search: SessionSearch }) {
  const { views, save, remove } = useViews(usePerson().organization.organizationId);
  const [isNaming, setIsNaming] = useState(false);
  const navigate = useNavigate();
  const current = views.find((view) => isSameSearch(view.search, search));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name')).trim();
    if (name === '') return;
    save({ name, search });
    setIsNaming(false);
  };
  return (
    <>
      <DropdownMenu.Root modal={false}>
        <DropdownMenu.Trigger asChild>
          <Button tone="quiet" size="small" className="flex-none">
            <Bookmark size={14} aria-hidden />
            <span className="max-w-40 truncate">{current?.name ?? 'Views'}</span>
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu max-h-[60vh] max-w-80 overflow-y-auto" align="end" sideOffset={4}>
            {views.length === 0 && <p className="px-2 py-1 text-12 text-muted">No views saved in this browser yet.</p>}
            {views.map((view) => (
              <DropdownMenu.Item
                key={view.name}
                className="menu-item"
                data-state={view === current ? 'checked' : undefined}
                onSelect={() => void navigate({ to: '/sessions', search: { plane: undefined, ...view.search } })}
              >
                <span className="truncate">{view.name}</span>
              </DropdownMenu.Item>
            ))}
            <DropdownMenu.Separator className="menu-line" />
            {current ? (
              <DropdownMenu.Item className="menu-item" onSelect={() => remove(current.name)}>
                <span className="truncate">Forget {current.name}</span>
              </DropdownMenu.Item>
            ) : (
              <DropdownMenu.Item className="menu-item" onSelect={() => setIsNaming(true)}>
                Save what is shown…
              </DropdownMenu.Item>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {isNaming && (
        <Dialog title="Save what is shown" onClose={() => setIsNaming(false)}>
          <form onSubmit={submit} className="flex flex-col gap-3">
            <label className="flex flex-col gap-1 text-13">
              Name of the view
              <input name="name" className="field" required maxLength={60} autoFocus autoComplete="off" />
            </label>
            <p className="text-12 text-muted">Query, order and plane are kept, in this browser.</p>
            <DialogActions>
              <Button onClick={() => setIsNaming(false)}>Cancel</Button>
              <Button type="submit" tone="primary">
                Save
              </Button>
            </DialogActions>
          </form>
        </Dialog>
      )}
    </>
  );
}
