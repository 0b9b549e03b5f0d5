import { useState } from 'react';
import { keys, useChange, useDirectory } from '../../app/queries.ts';
import { Button } from '../../kit/button.tsx';
import { CopyLine } from '../../kit/copy.tsx';
import { Ago } from '../../kit/time.tsx';
import { Confirm } from '../../shared/confirm.tsx';
import { ErrorNote } from '../../shared/error-note.tsx';

/** The token with which a directory, such as Microsoft Entra or Okta, provisions members. Only owners see it. */
export function DirectorySection() {
  const { data: directory, error, refetch } = useDirectory();
  const issue = useChange(async (api) => (await api.issueDirectoryToken({})).body, [keys.directory]);
  const [asked, setAsked] = useState<'replace' | 'revoke'>();
  const token = directory?.token;
  return (
    <section className="mt-8 flex max-w-[640px] flex-col items-start gap-3 text-13" aria-label="Directory">
      <h2 className="text-14">Directory</h2>
      <p className="text-muted">
        Microsoft Entra, Okta and others can invite and remove members by SCIM. Enter this address and a token there.
      </p>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {directory && <CopyLine text={directory.baseUrl} label="Copy the address" />}
      {issue.data && (
        <>
          <p>
            Copy the token now. <strong>It is shown only once.</strong>
          </p>
          <CopyLine text={issue.data.value} label="Copy the token" hasFocus />
        </>
      )}
      {token && (
        <p className="text-muted">
          The token that ends in <code>{token.lastFour}</code> was issued <Ago time={token.createdAt} />
          {token.lastUsedAt === undefined ? ' and never used.' : ' and last used '}
          {token.lastUsedAt && <Ago time={token.lastUsedAt} />}
        </p>
      )}
      {token?.issuerIsOwner === false && (
        <p className="text-warn">
          The person who issued this token is no owner any more, and may still know it: with it, anybody can invite and
          remove members. Replace it.
        </p>
      )}
      <div className="flex gap-2">
        <Button disabled={issue.isPending} onClick={() => (token ? setAsked('replace') : issue.mutate(undefined))}>
          {token ? 'Replace the token' : 'Issue a token'}
        </Button>
        {token && (
          <Button tone="danger" disabled={issue.isPending} onClick={() => setAsked('revoke')}>
            Revoke the token
          </Button>
        )}
      </div>
      {issue.error && <ErrorNote error={issue.error} />}
      {asked === 'replace' && (
        <Confirm
          title="Replace the token of the directory"
          action="Replace"
          run={() => issue.mutateAsync(undefined)}
          touches={[]}
          onDone={() => setAsked(undefined)}
          onClose={() => setAsked(undefined)}
        >
          The current token of the directory stops working at once. Until you enter the new one there, the directory
          cannot invite or remove members.
        </Confirm>
      )}
      {asked === 'revoke' && (
        <Confirm
          title="Revoke the token of the directory"
          action="Revoke"
          run={(api) => api.revokeDirectoryToken({})}
          touches={[keys.directory]}
          onDone={() => {
            issue.reset();
            setAsked(undefined);
          }}
          onClose={() => setAsked(undefined)}
        >
          The directory can no longer invite or remove members. Current members stay. This cannot be undone, but you can
          issue another token.
        </Confirm>
      )}
    </section>
  );
}
