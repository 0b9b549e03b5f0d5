import type { Share } from '../../contract/share.ts';
import { keys, useChange, useShares } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { formatCount, formatExact } from '../kit/format.ts';
import { Ago } from '../kit/time.tsx';
import { ErrorNote } from './error-note.tsx';
import { useNameOf } from './person-name.tsx';

/** The shares of a session that are neither revoked nor expired. */
export function useSharesInForce(sessionId: string): Share[] {
  const { data: shares = [] } = useShares(sessionId);
  return shares.filter(({ revokedAt, expiresAt }) => revokedAt === undefined && Date.parse(expiresAt) > Date.now());
}

interface Props {
  sessionId: string;
  shares: readonly Share[];
  label: string;
}

/** Shares of a session, each with a button that ends it. */
export function ShareList({ sessionId, shares, label }: Props) {
  const nameOf = useNameOf();
  const revoke = useChange(
    (api, { shareId }: Share) => api.revokeShare({ sessionId, shareId }),
    [keys.shares(sessionId)],
  );
  return (
    <>
      <ul aria-label={label} className="mt-2 flex flex-col gap-2">
        {shares.map((share) => (
          <li key={share.shareId} className="flex items-center justify-between gap-3">
            <span className="min-w-0 [overflow-wrap:anywhere]">
              {share.audience === 'person' ? nameOf(share.userId ?? '') : WITH[share.audience]}, {shownIn(share)}
              <span className="block text-muted">
                by {nameOf(share.by)} <Ago time={share.createdAt} />, until {formatExact(Date.parse(share.expiresAt))},{' '}
                {openedWords(share.views)}
              </span>
            </span>
            <Button size="small" disabled={revoke.isPending} onClick={() => revoke.mutate(share)}>
              Revoke
            </Button>
          </li>
        ))}
      </ul>
      {revoke.isError && <ErrorNote error={revoke.error} />}
    </>
  );
}

const shownIn = ({ level, from, to }: Share) =>
  from === undefined && to === undefined ? level : `${level}, event ${from ?? 1} to ${to ?? 'the end'}`;

function openedWords(views: number): string {
  if (views === 0) return 'not opened yet';
  return views === 1 ? 'opened once' : `opened ${formatCount(views)} times`;
}

const WITH = { organization: 'The organization', link: 'Anybody with the link' } as const;
