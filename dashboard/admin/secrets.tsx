import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Secret } from '../../contract/secret.ts';
import { useIsAdmin } from '../app/app.ts';
import { keys, useSecrets } from '../app/queries.ts';
import { useHash } from '../app/use-hash.ts';
import { Button } from '../kit/button.tsx';
import { Empty } from '../kit/notes.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { Confirm } from '../shared/confirm.tsx';
import { PersonLink } from '../shared/person-name.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { SessionsOf } from '../shared/sessions-of.tsx';
import { IssueSecret } from './issue-secret.tsx';
import { ResourcePage } from './resource-page.tsx';
import { RotateSecret } from './rotate-secret.tsx';

type Doing = { what: 'issue' } | { what: 'rotate' | 'revoke'; secret: Secret };

export function SecretsPage() {
  const isAdmin = useIsAdmin();
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  useHash('issue', () => isAdmin && setDoing({ what: 'issue' }));
  return (
    <ResourcePage
      title="Secrets"
      actions={
        isAdmin && (
          <Button tone="primary" onClick={() => setDoing({ what: 'issue' })}>
            <Plus size={16} aria-hidden /> Issue a secret
          </Button>
        )
      }
      query={useSecrets()}
      empty={
        <Empty title="No secrets yet">
          <p>
            {isAdmin ? 'Issue one to sign in a machine that has no browser.' : 'Ask an owner or an admin to issue one.'}
          </p>
        </Empty>
      }
      wordsOf={(secret) => `${nameOfSecret(secret)} ${secret.prefix} ${secret.lastFour} ${secret.status}`}
      keyOf={({ secretId }) => secretId}
      isMuted={({ status }) => status === 'revoked'}
      columns={[
        {
          head: 'Name',
          wraps: true,
          cell: ({ secretId, secretEnvironment, name, status }) => (
            <>
              <strong>
                <SessionsOf of={{ secret: secretId }} plane={secretEnvironment}>
                  {name ? showHidden(name) : 'unnamed'}
                </SessionsOf>
              </strong>
              {status === 'revoked' && <span className="text-muted"> revoked</span>}
            </>
          ),
        },
        {
          head: 'Secret',
          cell: ({ prefix, lastFour }) => (
            <span className="font-mono text-12">
              {prefix}…{lastFour}
            </span>
          ),
        },
        {
          head: 'Plane',
          cell: ({ secretEnvironment }) => (
            <span className={secretEnvironment === 'test' ? 'text-test' : ''}>{secretEnvironment}</span>
          ),
        },
        { head: 'Issued', label: 'issued', isMuted: true, cell: ({ createdAt }) => <Ago time={createdAt} /> },
        { head: 'By', label: 'by', wraps: true, cell: ({ createdBy }) => <PersonLink userId={createdBy} /> },
        {
          head: 'Last used',
          label: 'last used',
          isMuted: true,
          cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago time={lastUsedAt} /> : 'never'),
        },
        {
          head: 'Actions',
          isActions: true,
          cell(secret) {
            const name = nameOfSecret(secret);
            return (
              isAdmin &&
              secret.status === 'active' && (
                <>
                  <Button
                    size="small"
                    aria-label={`Rotate ${name}`}
                    onClick={() => setDoing({ what: 'rotate', secret })}
                  >
                    Rotate
                  </Button>
                  <Button
                    size="small"
                    tone="danger"
                    aria-label={`Revoke ${name}`}
                    onClick={() => setDoing({ what: 'revoke', secret })}
                  >
                    Revoke
                  </Button>
                </>
              )
            );
          },
        },
      ]}
    >
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
          Machines that use it stop sending; they keep their captured events until they are signed in again. This cannot
          be undone.
        </Confirm>
      )}
    </ResourcePage>
  );
}
