import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Secret } from '../../contract/secret.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useMembers, useSecrets } from '../app/queries.ts';
import { useHash } from '../app/use-hash.ts';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { ResourceTable } from '../shared/resource-table.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { IssueSecret } from './issue-secret.tsx';
import { RotateSecret } from './rotate-secret.tsx';

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
    <Page title="Secrets" context="Machines use a secret to send sessions." actions={isAdmin && issue}>
      <ResourceTable
        name="Secrets"
        query={secrets}
        empty={
          <Empty title="No secrets yet">
            <p>
              {isAdmin
                ? 'Issue one, and log a machine in with it.'
                : 'An owner or an admin can issue one; machines are logged in with it.'}
            </p>
          </Empty>
        }
        heads={['Name', 'Secret', 'Plane', 'Issued', 'By', 'Last used', 'Status']}
      >
        {(secret) => <SecretRow key={secret.secretId} secret={secret} onDo={(what) => setDoing({ what, secret })} />}
      </ResourceTable>
      {doing?.what === 'issue' && <IssueSecret onClose={close} />}
      {doing?.what === 'rotate' && <RotateSecret secret={doing.secret} onClose={close} />}
      {doing?.what === 'revoke' && (
        <Confirm
          title={`Revoke ${nameOfSecret(doing.secret)}`}
          action="Revoke"
          run={(api) => api.revokeSecret({ secretId: doing.secret.secretId })}
          touches={[keys.secrets]}
          onDone={close}
          onClose={close}
        >
          Machines that use it can send nothing more from now on; they keep what they capture until they are logged in
          again. This cannot be taken back.
        </Confirm>
      )}
    </Page>
  );
}

function SecretRow({ secret, onDo }: { secret: Secret; onDo: (what: 'rotate' | 'revoke') => void }) {
  const isAdmin = useIsAdmin();
  const { secretId, name, prefix, lastFour, secretEnvironment, createdBy, createdAt, lastUsedAt, status } = secret;
  const issuer = useMembers().data?.find(({ userId }) => userId === createdBy);
  const label = nameOfSecret(secret);
  return (
    <tr className={status === 'revoked' ? 'text-muted' : ''}>
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
      <td data-label="by">
        {issuer ? (
          <Link to="/members/$userId" params={{ userId: issuer.userId }} className="row-link">
            {showHidden(issuer.email)}
          </Link>
        ) : (
          <span className="text-muted">a former member</span>
        )}
      </td>
      <td className="text-muted" data-label="last used">
        {lastUsedAt ? <Ago time={lastUsedAt} /> : 'never'}
      </td>
      <td>{status}</td>
      <td className="text-right">
        {isAdmin && status === 'active' && (
          <span className="inline-flex gap-2">
            <Button size="small" aria-label={`Rotate ${label}`} onClick={() => onDo('rotate')}>
              Rotate
            </Button>
            <Button size="small" tone="danger" aria-label={`Revoke ${label}`} onClick={() => onDo('revoke')}>
              Revoke
            </Button>
          </span>
        )}
      </td>
    </tr>
  );
}
