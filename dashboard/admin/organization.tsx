import { type ReactNode, useState } from 'react';
import { useIsAdmin, usePerson } from '../app/app.ts';
import { keys, useChange } from '../app/queries.ts';
import { OrganizationName } from '../frame/organization-name.tsx';
import { Page } from '../frame/page.tsx';
import { Button } from '../kit/button.tsx';
import { CopyButton } from '../kit/copy.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { DeleteAccount, DeleteOrganization } from './members/leave.tsx';

export function OrganizationPage() {
  const { organization, role } = usePerson();
  const isAdmin = useIsAdmin();
  const [deleting, setDeleting] = useState<'account' | 'organization'>();
  return (
    <Page title="Organization">
      {isAdmin && <Rename />}
      <dl className="mt-6 grid max-w-[560px] grid-cols-[140px_1fr] text-13">
        {!isAdmin && <Fact name="Name">{showHidden(organization.name)}</Fact>}
        <Fact name="Id">
          <code className="truncate text-12">{organization.organizationId}</code>
          <CopyButton text={organization.organizationId} label="Copy the id" />
        </Fact>
        <Fact name="Your role">{role}</Fact>
        <Fact name="Created">
          <Ago time={organization.createdAt} />
        </Fact>
      </dl>
      <div className="mt-6 flex gap-2">
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

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="flex h-9 items-center border-line border-b text-muted">{name}</dt>
    <dd className="flex h-9 min-w-0 items-center gap-2 border-line border-b">{children}</dd>
  </>
);

function Rename() {
  const { organization } = usePerson();
  const rename = useChange((api, body: { name: string }) => api.renameOrganization({ body }), [keys.person]);
  return (
    <OrganizationName label="Name" action="Rename" known={organization.name} naming={rename}>
      {rename.isSuccess && <p className="text-12 text-muted">Renamed.</p>}
    </OrganizationName>
  );
}
