import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, useChange } from '../app/queries.ts';
import { OrganizationName } from '../frame/organization-name.tsx';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { DeleteAccount, DeleteOrganization } from './members/leave.tsx';
import { StorageUse } from './storage-use.tsx';

export function OrganizationPage() {
  const { organization, role } = usePerson();
  const isAdmin = useIsAdmin();
  const [deleting, setDeleting] = useState<'account' | 'organization'>();
  return (
    <Page title="Organization">
      {isAdmin && <Rename />}
      <div className="mt-6 max-w-[560px]">
        <Pairs
          look="lined"
          nameWidth={140}
          pairs={[
            { name: 'Name', value: isAdmin ? undefined : showHidden(organization.name) },
            {
              name: 'Id',
              value: (
                <>
                  <code className="truncate text-12">{organization.organizationId}</code>
                  <CopyButton text={organization.organizationId} label="Copy the id" />
                </>
              ),
            },
            { name: 'Your role', value: role },
            { name: 'Created', value: <Ago time={organization.createdAt} /> },
            { name: 'Storage', value: <StorageUse /> },
            {
              name: 'Policy',
              value: (
                <Link to="/policy" className="link">
                  Who can sign in machines and see sessions
                </Link>
              ),
            },
            ...(isAdmin
              ? [
                  {
                    name: 'Audit log',
                    value: (
                      <Link to="/audit" className="link">
                        Who did what
                      </Link>
                    ),
                  },
                  {
                    name: 'Legal holds',
                    value: (
                      <Link to="/holds" className="link">
                        Data that nobody can delete
                      </Link>
                    ),
                  },
                ]
              : []),
          ]}
        />
      </div>
      <div className="mt-6 flex flex-wrap gap-2">
        <Button onClick={() => setDeleting('account')}>Delete your account</Button>
        {role === 'owner' && (
          <Button tone="danger" onClick={() => setDeleting('organization')}>
            Delete the organization
          </Button>
        )}
      </div>
      {deleting === 'account' && <DeleteAccount onClose={() => setDeleting(undefined)} />}
      {deleting === 'organization' && <DeleteOrganization onClose={() => setDeleting(undefined)} />}
    </Page>
  );
}

function Rename() {
  const { organization } = usePerson();
  const rename = useChange((api, body: { name: string }) => api.renameOrganization({ body }), [keys.person]);
  return (
    <OrganizationName label="Name" action="Rename" known={organization.name} naming={rename}>
      {rename.isSuccess && <p className="text-12 text-muted">Renamed.</p>}
    </OrganizationName>
  );
}
