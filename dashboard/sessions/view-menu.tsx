import { useNavigate } from '@tanstack/react-router';
import { Bookmark } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, type SessionSearch } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { ViewDialog } from './view-dialog.tsx';
import { isSameSearch, type SavedView, useViews } from './views.ts';

/** What a dialog is open for. */
type Asked = 'save' | 'edit' | 'delete';

/** Saved views: to go to one, to save what is shown, to edit or delete the one that is shown. */
export function ViewMenu({ search }: { search: SessionSearch }) {
  const { userId, organization } = usePerson();
  const isAdmin = useIsAdmin();
  const { data: views = [], isError } = useViews();
  const [asked, setAsked] = useState<{ what: Asked; view?: SavedView }>();
  const own = views.filter(({ createdBy }) => createdBy === userId);
  const shared = views.filter(({ isShared }) => isShared);
  const kept = own.filter(({ isShared }) => !isShared);
  const current = [...own, ...shared].find((view) => isSameSearch(view.search, search));
  const mayChange = current && (isAdmin || current.createdBy === userId);
  const close = () => setAsked(undefined);
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
            {views.length === 0 && (
              <p className="px-2 py-1 text-12 text-muted">
                {isError ? 'The saved views could not be loaded.' : 'No views saved yet.'}
              </p>
            )}
            <Views title={`Shared in ${organization.name}`} views={shared} current={current} />
            <Views title="Only you" views={kept} current={current} />
            {(mayChange || !current) && <DropdownMenu.Separator className="menu-line" />}
            {!current && (
              <DropdownMenu.Item className="menu-item" onSelect={() => setAsked({ what: 'save' })}>
                Save this view…
              </DropdownMenu.Item>
            )}
            {mayChange && (
              <>
                <DropdownMenu.Item className="menu-item" onSelect={() => setAsked({ what: 'edit', view: current })}>
                  <span className="truncate">Edit {current.name}…</span>
                </DropdownMenu.Item>
                <DropdownMenu.Item className="menu-item" onSelect={() => setAsked({ what: 'delete', view: current })}>
                  <span className="truncate">Delete {current.name}…</span>
                </DropdownMenu.Item>
              </>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {asked && asked.what !== 'delete' && <ViewDialog search={search} view={asked.view} own={own} onClose={close} />}
      {asked?.what === 'delete' && asked.view && <DeleteView view={asked.view} onClose={close} />}
    </>
  );
}

interface ViewsProps {
  title: string;
  views: readonly SavedView[];
  current: SavedView | undefined;
}

function Views({ title, views, current }: ViewsProps) {
  const navigate = useNavigate();
  if (views.length === 0) return undefined;
  return (
    <DropdownMenu.Group>
      <DropdownMenu.Label className="truncate px-2 pt-2 text-12 text-muted">{title}</DropdownMenu.Label>
      {views.map((view) => (
        <DropdownMenu.Item
          key={view.viewId}
          className="menu-item"
          data-state={view === current ? 'checked' : undefined}
          onSelect={() => void navigate({ to: '/sessions', search: { plane: undefined, ...view.search } })}
        >
          <span className="truncate">{view.name}</span>
        </DropdownMenu.Item>
      ))}
    </DropdownMenu.Group>
  );
}

function DeleteView({ view: { viewId, name, isShared }, onClose }: { view: SavedView; onClose: () => void }) {
  return (
    <Confirm
      title="Delete the view"
      action="Delete"
      run={(api) => api.deleteView({ viewId })}
      touches={[keys.views]}
      onDone={onClose}
      onClose={onClose}
    >
      {isShared ? `“${name}” disappears for everyone. ` : `“${name}” disappears. `}Its sessions stay.
    </Confirm>
  );
}
