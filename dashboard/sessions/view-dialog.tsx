import { type FormEvent, useState } from 'react';
import { usePerson } from '../app/app.ts';
import { keys, type SessionSearch, useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { type SavedView, writeViewSearch } from './views.ts';

interface Props {
  /** What a new view lists. */
  search: SessionSearch;
  /** The one to rename or to share; absent: a new one. */
  view: SavedView | undefined;
  /** Those that the person saved. */
  own: readonly SavedView[];
  onClose: () => void;
}

/** Asks for the name of a view, and who sees it. A new one replaces the person's own of the same name. */
export function ViewDialog({ search, view, own, onClose }: Props) {
  const { userId, organization } = usePerson();
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.isShared ?? false);
  const given = name.trim();
  const replaced = view ? undefined : own.find((each) => each.name === given);
  const save = useChange(
    async (api, _: undefined) => {
      const who = view && view.createdBy !== userId ? {} : { isShared };
      if (view) return api.changeView({ viewId: view.viewId, body: { name: given, ...who } });
      const body = { name: given, search: writeViewSearch(search), isShared };
      return replaced ? api.changeView({ viewId: replaced.viewId, body }) : api.saveView({ body });
    },
    [keys.views],
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (given !== '') save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Dialog title={view ? 'Edit the view' : 'Save this view'} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3 text-13">
        <label className="flex flex-col gap-1">
          Name
          <input
            className="field"
            required
            maxLength={60}
            autoFocus
            autoComplete="off"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </label>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={isShared}
            disabled={view !== undefined && view.createdBy !== userId}
            onChange={({ target }) => setShared(target.checked)}
          />
          Share with everyone in {organization.name}
        </label>
        {replaced && <p className="text-12 text-muted">This replaces your view of the same name.</p>}
        {save.isError && <ErrorNote error={save.error} />}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" disabled={save.isPending}>
            {replaced ? 'Replace' : 'Save'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
