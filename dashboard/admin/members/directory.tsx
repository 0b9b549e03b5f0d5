import { keys, useChange, useDirectory } from '../../app/queries.ts';
import { Button } from '../../kit/button.tsx';
import { CopyLine } from '../../kit/copy.tsx';
import { Ago } from '../../kit/time.tsx';
import { ErrorNote } from '../../shared/error-note.tsx';

/** The token with which a directory, such as Microsoft Entra or Okta, provisions members. Only owners see it. */
export function DirectorySection() {
  const { data: directory, error, refetch } = useDirectory();
  const issue = useChange(async (api) => (await api.issueDirectoryToken({})).body, [keys.directory]);
  const revoke = useChange((api) => api.revokeDirectoryToken({}), [keys.directory]);
  const token = directory?.token;
  const isBusy = issue.isPending || revoke.isPending;
  const failed = issue.error ?? revoke.error;
  const change = (what: typeof issue | typeof revoke) => {
    issue.reset();
    what.mutate(undefined);
  };
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
            Copy the token now. <strong>It is shown this once.</strong>
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
      <div className="flex gap-2">
        <Button disabled={isBusy} onClick={() => change(issue)}>
          {token ? 'Replace the token' : 'Issue a token'}
        </Button>
        {token && (
          <Button tone="danger" disabled={isBusy} onClick={() => change(revoke)}>
            Revoke the token
          </Button>
        )}
      </div>
      {failed && <ErrorNote error={failed} />}
    </section>
  );
}
