import { useNavigate } from '@tanstack/react-router';
import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, type SessionSearch } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Menu, MenuGroup, MenuItem, MenuNote } from '../kit/menu.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { ViewDialog } from './view-dialog.tsx';
import { isSameSearch, type SavedView, useViews } from './views.ts';

/** The dialog that is open. */
type Asked = 'save' | 'edit' | 'delete';

/** The menu of saved views. It opens a view, saves the current search, or edits or deletes the current view. */
export function ViewMenu({ search }: { search: SessionSearch }) {
  const { userId, organization } = usePerson();
  const isAdmin = useIsAdmin();
  const { data, isError, refetch } = useViews();
  const views = data ?? [];
  const [asked, setAsked] = useState<{ what: Asked; view?: SavedView }>();
  const own = views.filter(({ createdBy }) => createdBy === userId);
  const shared = views.filter(({ isShared }) => isShared);
  const kept = own.filter(({ isShared }) => !isShared);
  const current = [...own, ...shared].find((view) => isSameSearch(view.search, search));
  const mayChange = current && (isAdmin || current.createdBy === userId);
  const close = () => setAsked(undefined);
  return (
    <>
      <Menu
        onOpen={() => isError && void refetch()}
        trigger={
          <Button tone="quiet" size="small" className="flex-none">
            <Bookmark size={14} aria-hidden />
            <span className="max-w-40 truncate max-sm:sr-only">{current?.name ?? 'Views'}</span>
          </Button>
        }
      >
        {!data && <MenuNote>{isError ? 'The saved views could not be loaded.' : 'Loading…'}</MenuNote>}
        {data?.length === 0 && <MenuNote>No views saved yet.</MenuNote>}
        <Views title={`Shared in ${organization.name}`} views={shared} current={current} />
        <Views title="Only you" views={kept} current={current} />
        {data && !current && (
          <MenuGroup>
            <MenuItem onSelect={() => setAsked({ what: 'save' })}>Save this view…</MenuItem>
          </MenuGroup>
        )}
        {mayChange && (
          <MenuGroup>
            <MenuItem onSelect={() => setAsked({ what: 'edit', view: current })}>Edit {current.name}…</MenuItem>
            <MenuItem onSelect={() => setAsked({ what: 'delete', view: current })}>Delete {current.name}…</MenuItem>
          </MenuGroup>
        )}
      </Menu>
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
    <MenuGroup title={title}>
      {views.map((view) => (
        <MenuItem
          key={view.viewId}
          isCurrent={view === current}
          onSelect={() => navigate({ to: '/sessions', search: { plane: undefined, ...view.search } })}
        >
          {view.name}
        </MenuItem>
      ))}
    </MenuGroup>
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
      {isShared ? `“${name}” is deleted for everyone. ` : `“${name}” is deleted. `}Its sessions stay.
    </Confirm>
  );
}
