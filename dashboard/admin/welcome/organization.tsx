import type { OfferedInvitation } from '../../../contract/organization.ts';
import { keys, useChange } from '../../app/queries.ts';
import { OrganizationName } from '../../frame/organization-name.tsx';
import { Button } from '../../kit/button.tsx';
import { showHidden } from '../../kit/text/controls.ts';
import { ErrorNote } from '../../shared/error-note.tsx';

interface Props {
  invitations: readonly OfferedInvitation[];
  isTaken: boolean;
  /** The person must prove their e-mail first. */
  mustVerify: boolean;
}

/** The choices of a person without an organization: accept an invitation, or create one. */
export function Beginning({ invitations, isTaken, mustVerify }: Props) {
  const accept = useChange(
    (api, organizationId: string) => api.acceptInvitation({ body: { organizationId } }),
    [keys.person],
  );
  if (isTaken) {
    return (
      <p className="text-muted">
        A member with your e-mail signs in with another account. Sign out, and sign in with that one. If the identity
        provider was changed, the operator can let members follow: see ADOPT_MEMBERS in the documentation.
      </p>
    );
  }
  if (mustVerify) {
    return (
      <p className="text-muted">
        First confirm your e-mail address: follow the link in the mail that you got, and sign in again. No mail? Sign
        out, and choose “Forgot your password?” on the sign-in page, or confirm the address at your identity provider.
      </p>
    );
  }
  if (invitations.length === 0) return <CreateOrganization />;
  return (
    <>
      <p className="text-muted">
        {invitations.length === 1
          ? 'You are invited. Once you join, its members can read the sessions that your machines send.'
          : 'These organizations invited you. You can belong to one; joining it declines the others.'}
      </p>
      <ul className="flex flex-col">
        {invitations.map(({ organizationId, organizationName, role }) => (
          <li key={organizationId} className="flex items-center gap-3 border-line border-b py-2">
            <span className="min-w-0 grow truncate">
              {showHidden(organizationName)} <span className="text-muted">as {role}</span>
            </span>
            <Button
              size="small"
              aria-label={`Join ${showHidden(organizationName)}`}
              disabled={accept.isPending}
              onClick={() => accept.mutate(organizationId)}
            >
              Join
            </Button>
          </li>
        ))}
      </ul>
      {accept.isError && <ErrorNote error={accept.error} />}
      <p className="text-muted">
        Or create your own, which declines {invitations.length === 1 ? 'the invitation' : 'all of them'}.
      </p>
      <CreateOrganization />
    </>
  );
}

function CreateOrganization() {
  const create = useChange((api, body: { name: string }) => api.createOrganization({ body }), [keys.person]);
  return <OrganizationName label="Name; you can change it later" action="Create" naming={create} />;
}
