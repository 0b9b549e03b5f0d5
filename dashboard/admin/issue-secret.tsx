import { useState } from 'react';
import type { Plane } from '../../contract/secret.ts';
import { keys, useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { PlaneChoice } from './plane-choice.tsx';

export interface NewSecret {
  name?: string;
  secretEnvironment: Plane;
}

export const useIssueSecret = () =>
  useChange(async (api, body: NewSecret) => (await api.issueSecret({ body })).body, [keys.secrets]);

/** Issues a secret and shows its value once. */
export function IssueSecret({ onClose }: { onClose: () => void }) {
  const [plane, setPlane] = useState<Plane>('live');
  const [isCopied, setCopied] = useState(false);
  const issue = useIssueSecret();
  if (issue.data) {
    return (
      <Dialog title="The new secret" onClose={onClose} width="wide" canClose={isCopied}>
        <SecretValue value={issue.data.value} onCopied={() => setCopied(true)} />
        <DialogActions>
          {!isCopied && <Button onClick={onClose}>Close without copying</Button>}
          <Button tone="primary" disabled={!isCopied} onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Issue a secret"
      action="Issue"
      error={issue.error}
      isBlocked={issue.isPending}
      onSubmit={(form) => {
        const name = String(form.get('name')).trim();
        issue.mutate({ ...(name && { name }), secretEnvironment: plane });
      }}
      onClose={onClose}
    >
      <label className="flex flex-col gap-1 text-13">
        Name (optional)
        <input name="name" className="field" maxLength={200} />
      </label>
      <PlaneChoice plane={plane} onChange={setPlane} />
    </FormDialog>
  );
}

export function SecretValue({ value, onCopied }: { value: string; onCopied?: () => void }) {
  return (
    <div className="flex w-full flex-col gap-3 text-13">
      <p>
        Copy it now. <strong>It is shown only once</strong>: the service keeps a fingerprint of it.
      </p>
      <CopyLine text={value} label="Copy the secret" hasFocus {...(onCopied && { onCopied })} />
    </div>
  );
}
