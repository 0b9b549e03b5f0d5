import { Check } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Secret } from '../../contract/secret.ts';
import { keys, useChange, useSecrets } from '../app/queries.ts';
import { serviceAddress } from '../kit/base-path.ts';
import { Button } from '../kit/button.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { Ago } from '../kit/time.tsx';
import { ErrorNote } from '../shared/error-note.tsx';
import { nameOfSecret } from '../shared/secret-name.ts';
import { SecretValue, useIssueSecret } from './issue-secret.tsx';

/** The interval between checks for machines that still use the old secret, in milliseconds. */
const LOOK_EVERY = 5_000;

/** Rotates a secret step by step: issue a successor of the same name and plane, move the machines to it, revoke the old one. */
export function RotateSecret({ secret: old, onClose }: { secret: Secret; onClose: () => void }) {
  const issue = useIssueSecret();
  const revoke = useChange((api) => api.revokeSecret({ secretId: old.secretId }), [keys.secrets]);
  const [isCopied, setCopied] = useState(false);
  const successor = issue.data?.secret;
  return (
    <Dialog
      title={`Rotate ${nameOfSecret(old)}`}
      onClose={onClose}
      width="wide"
      canClose={successor === undefined || isCopied}
    >
      <ol className="flex flex-col gap-5 text-13">
        <Step title="Issue a successor" isDone={successor !== undefined}>
          {!successor && (
            <>
              <p className="text-muted">It has the same name and plane. The old secret works until you revoke it.</p>
              <Button
                tone="primary"
                disabled={issue.isPending}
                onClick={() =>
                  issue.mutate({ ...(old.name && { name: old.name }), secretEnvironment: old.secretEnvironment })
                }
              >
                Issue
              </Button>
              {issue.isError && <ErrorNote error={issue.error} />}
            </>
          )}
        </Step>
        <Step title="Copy it" isDone={isCopied} isLater={!successor}>
          {issue.data && <SecretValue value={issue.data.value} onCopied={() => setCopied(true)} />}
        </Step>
        <Step title="Sign each machine in with it" isDone={revoke.isSuccess} isLater={!isCopied}>
          {successor && <Usage old={old} since={successor.createdAt} />}
        </Step>
        <Step title="Revoke the old secret" isDone={revoke.isSuccess} isLater={!isCopied}>
          {!revoke.isSuccess && (
            <>
              <p className="text-muted">
                Machines that still use it stop sending; they keep their captured events until they are signed in again.
                This cannot be undone.
              </p>
              <Button tone="danger" disabled={revoke.isPending} onClick={() => revoke.mutate(undefined)}>
                Revoke {old.prefix}…{old.lastFour}
              </Button>
              {revoke.isError && <ErrorNote error={revoke.error} />}
            </>
          )}
        </Step>
      </ol>
      <DialogActions>
        {successor && !isCopied && <Button onClick={onClose}>Close without copying</Button>}
        <Button
          key={revoke.status}
          autoFocus={revoke.isSuccess}
          tone={revoke.isSuccess ? 'primary' : undefined}
          disabled={!!successor && !isCopied}
          onClick={onClose}
        >
          {revoke.isSuccess ? 'Done' : successor ? 'Revoke it later' : 'Cancel'}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Shows the command to run, and whether the old secret is still in use. */
function Usage({ old, since }: { old: Secret; since: string }) {
  const secrets = useSecrets({ refetchInterval: () => LOOK_EVERY }).data;
  const lastUsedAt = secrets?.find(({ secretId }) => secretId === old.secretId)?.lastUsedAt;
  const isUsed = lastUsedAt !== undefined && Date.parse(lastUsedAt) > Date.parse(since);
  return (
    <>
      <CopyLine text={`capture login --url ${serviceAddress()} --ask-secret`} label="Copy the command" />
      <p role="status" className={isUsed ? 'text-warn' : 'text-muted'}>
        {lastUsedAt === undefined ? (
          'The old secret was never used.'
        ) : (
          <>
            The old secret was last used <Ago time={lastUsedAt} />
            {isUsed
              ? ', after you issued its successor: a machine still uses it.'
              : ', before you issued its successor.'}
          </>
        )}
      </p>
    </>
  );
}

interface StepProps {
  title: string;
  isDone: boolean;
  isLater?: boolean;
  children: ReactNode;
}

function Step({ title, isDone, isLater = false, children }: StepProps) {
  return (
    <li className="flex gap-3" aria-current={!isDone && !isLater ? 'step' : undefined}>
      <span className={`mt-0.5 flex size-4 flex-none items-center justify-center ${isDone ? 'text-ok' : 'text-muted'}`}>
        {isDone ? <Check size={16} aria-label="done" /> : <span className="size-1.5 rounded-full bg-current" />}
      </span>
      <div className="flex min-w-0 grow flex-col items-start gap-2">
        <h3 className={isLater || isDone ? 'font-normal text-muted' : ''}>{title}</h3>
        {!isLater && children}
      </div>
    </li>
  );
}
