import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Secret } from '../../contract/secret.ts';
import { useIsAdmin } from '../app.ts';
import { ErrorNote } from '../components/error-note.tsx';
import { IssueSecret } from '../components/issue-secret.tsx';
import { Page } from '../components/page.tsx';
import { RotateSecret } from '../components/rotate-secret.tsx';
import { nameOfSecret } from '../components/secret-name.ts';
import { SessionsOf } from '../components/sessions-of.tsx';
import { useHash } from '../components/use-hash.ts';
import { keys, useChange, useSecrets } from '../queries.ts';
import { showHidden } from '../text/controls.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Empty, Waiting } from '../ui/notes.tsx';
import { Scroll } from '../ui/scroll.tsx';
import { Ago } from '../ui/time.tsx';

type Doing = { what: 'issue' } | { what: 'rotate' | 'revoke'; secret: Secret };

export function SecretsPage() {
  const secrets = useSecrets();
  const isAdmin = useIsAdmin();
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  useHash('issue', () => isAdmin && setDoing({ what: 'issue' }));
  const issue = (
    <Button tone="primary" onClick={() => setDoing({ what: 'issue' })}>
      <Plus size={16} aria-hidden /> Issue a secret
    </Button>
  );
  return (
    <Page title="Secrets" context="With a secret, a machine may send sessions." actions={isAdmin && issue}>
      {secrets.isPending && <Waiting label="Loading secrets" rows={4} />}
      {secrets.isError && <ErrorNote error={secrets.error} onRetry={() => void secrets.refetch()} />}
      {secrets.data?.length === 0 && (
        <Empty title="No secrets yet">
          <p>
            {isAdmin
              ? 'Issue one, and log a machine in with it.'
              : 'An owner or an admin can issue one; machines are logged in with it.'}
          </p>
        </Empty>
      )}
      {secrets.data && secrets.data.length > 0 && <SecretTable secrets={secrets.data} onDo={setDoing} />}
      {doing?.what === 'issue' && <IssueSecret onClose={close} />}
      {doing?.what === 'rotate' && <RotateSecret secret={doing.secret} onClose={close} />}
      {doing?.what === 'revoke' && <Revoke secret={doing.secret} onClose={close} />}
    </Page>
  );
}

function SecretTable({ secrets, onDo }: { secrets: readonly Secret[]; onDo: (doing: Doing) => void }) {
  const isAdmin = useIsAdmin();
  return (
    <Scroll className="overflow-x-auto" aria-label="Secrets">
      <table className="table table-lines">
        <thead>
          <tr>
            <th>Name</th>
            <th>Secret</th>
            <th>Plane</th>
            <th>Issued</th>
            <th>Last used</th>
            <th>Status</th>
            <th>
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {secrets.map((secret) => {
            const { secretId, name, prefix, lastFour, secretEnvironment, createdAt, lastUsedAt, status } = secret;
            const label = nameOfSecret(secret);
            return (
              <tr key={secretId} className={status === 'revoked' ? 'text-muted' : ''}>
                <td className="font-medium">
                  <SessionsOf of={{ secret: secretId }} plane={secretEnvironment}>
                    {name ? showHidden(name) : 'unnamed'}
                  </SessionsOf>
                </td>
                <td className="font-mono text-12">
                  {prefix}…{lastFour}
                </td>
                <td className={secretEnvironment === 'test' ? 'text-test' : ''}>{secretEnvironment}</td>
                <td className="text-muted" data-label="issued">
                  <Ago time={createdAt} />
                </td>
                <td className="text-muted" data-label="last used">
                  {lastUsedAt ? <Ago time={lastUsedAt} /> : 'never'}
                </td>
                <td>{status}</td>
                <td className="text-right">
                  {isAdmin && status === 'active' && (
                    <span className="inline-flex gap-2">
                      <Button
                        size="small"
                        aria-label={`Rotate ${label}`}
                        onClick={() => onDo({ what: 'rotate', secret })}
                      >
                        Rotate
                      </Button>
                      <Button
                        size="small"
                        tone="danger"
                        aria-label={`Revoke ${label}`}
                        onClick={() => onDo({ what: 'revoke', secret })}
                      >
                        Revoke
                      </Button>
                    </span>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

function Revoke({ secret, onClose }: { secret: Secret; onClose: () => void }) {
  const revoke = useChange((api, secretId: string) => api.revokeSecret({ secretId }), [keys.secrets]);
  return (
    <Confirm
      title={`Revoke ${nameOfSecret(secret)}`}
      action="Revoke"
      isPending={revoke.isPending}
      onConfirm={() => revoke.mutate(secret.secretId, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>
        Machines that use it can send nothing more from now on; they keep what they capture until they are logged in
        again. This cannot be taken back.
      </p>
      {revoke.isError && <ErrorNote error={revoke.error} />}
    </Confirm>
  );
}
