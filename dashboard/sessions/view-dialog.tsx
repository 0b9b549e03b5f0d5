import { useState } from 'react';
import { usePerson } from '../app/app.ts';
import { keys, type SessionSearch, useChange } from '../app/queries.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { type SavedView, writeViewSearch } from './views.ts';

interface Props {
  /** The search of a new view. */
  search: SessionSearch;
  /** The view to edit; absent: a new one. */
  view: SavedView | undefined;
  /** The views that the person saved. */
  own: readonly SavedView[];
  onClose: () => void;
}

/** Asks for the name of a view, and whether to share it. A new view replaces the person's view of the same name. */
export function ViewDialog({ search, view, own, onClose }: Props) {
  const { userId, organization } = usePerson();
  const [name, setName] = useState(view?.name ?? '');
  const [chosen, setShared] = useState<boolean>();
  const given = name.trim();
  const replaced = view ? undefined : own.find((each) => each.name === given);
  // Sharing stays unchanged until the person changes it.
  const isShared = chosen ?? (view ?? replaced)?.isShared ?? false;
  const save = useChange(
    async (api, _: undefined) => {
      const who = view && view.createdBy !== userId ? {} : { isShared };
      if (view) return api.changeView({ viewId: view.viewId, body: { name: given, ...who } });
      const body = { name: given, search: writeViewSearch(search), isShared };
      return replaced ? api.changeView({ viewId: replaced.viewId, body }) : api.saveView({ body });
    },
    [keys.views],
  );
  const submit = () => {
    if (given !== '') save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={view ? 'Edit the view' : 'Save this view'}
      action={replaced ? 'Replace' : 'Save'}
      error={save.error}
      isBlocked={save.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        Name
        <input
          className="field"
          required
          maxLength={60}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="flex items-center gap-2 text-13">
        <input
          type="checkbox"
          checked={isShared}
          disabled={view !== undefined && view.createdBy !== userId}
          onChange={({ target }) => setShared(target.checked)}
        />
        Share with everyone in {organization.name}
      </label>
      {replaced && <p className="text-12 text-muted">This replaces your view of the same name.</p>}
    </FormDialog>
  );
}
