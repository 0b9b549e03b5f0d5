import { useState } from 'react';
import type { Session } from '../../contract/session.ts';
import type { ShareAudience, ShareBody, ShareLevel } from '../../contract/share.ts';
import { usePerson } from '../app/app.ts';
import { keys, useChange, useFacts, useMembers, usePolicy } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Radios } from '../kit/choice.tsx';
import { CopyLine } from '../kit/copy.tsx';
import { Dialog, DialogActions } from '../kit/dialog.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { LEVEL_WORDS } from '../shared/share-levels.ts';
import { ShareList, useSharesInForce } from '../shared/shares.tsx';

const DAY_MS = 86_400_000;
const DAYS = [1, 7, 30, 90, 365];

/** Shares a session, shows the address once, and lists the shares in force. */
export function ShareDialog({ session, onClose }: { session: Session; onClose: () => void }) {
  const { sessionId, eventCount } = session;
  const { data: policy } = usePolicy();
  const { data: members = [] } = useMembers();
  const me = usePerson().userId;
  const others = members.filter(({ userId, status }) => status === 'active' && userId !== me);
  const facts = useFacts(sessionId, eventCount);
  const levels = levelsToGive(session, facts.data?.summary.userId === me);
  const isOffered = {
    organization: true,
    person: others.length > 0,
    link: policy?.linkSharing === 'on' && isForTeam(session),
  };
  const [audience, setAudience] = useState<ShareAudience>('organization');
  const [chosen, setChosen] = useState<ShareLevel>();
  const level = chosen ?? levels[0];
  const create = useChange(
    async (api, body: ShareBody) => (await api.createShare({ sessionId, body })).body,
    [keys.shares(sessionId)],
  );
  if (create.data) {
    return (
      <Dialog title="The session is shared" onClose={onClose} width="wide">
        <div className="flex w-full flex-col gap-3 text-13">
          <p>
            Copy the address now. <strong>It is shown only once</strong>: the service keeps a fingerprint of it.
          </p>
          <CopyLine text={create.data.url} label="Copy the address" hasFocus />
        </div>
        <DialogActions>
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        </DialogActions>
      </Dialog>
    );
  }
  if (!isForTeam(session) && facts.isPending) return null;
  if (level === undefined) {
    return (
      <Dialog title="Only the person who ran this session can share it" onClose={onClose}>
        <p className="text-13">
          It is private. You can read it because the policy lets owners and admins read every session, but you cannot
          share it.
        </p>
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
        </DialogActions>
      </Dialog>
    );
  }
  const submit = (form: FormData) => {
    const number = (name: string) => Number(form.get(name)) || undefined;
    const [from, to] = [number('from'), number('to')];
    create.mutate({
      audience,
      level,
      ...(audience === 'person' && { userId: String(form.get('userId')) }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      expiresAt: new Date(Date.now() + Number(form.get('days')) * DAY_MS).toISOString(),
    });
  };
  const most = policy?.shareDays ?? 1;
  const days = DAYS.filter((count) => count < most).concat(most);
  return (
    <FormDialog
      title="Share this session"
      action="Share"
      error={create.error}
      isBlocked={create.isPending || !policy}
      onSubmit={submit}
      onClose={onClose}
    >
      <Radios
        legend="With"
        options={AUDIENCES.filter(({ value }) => isOffered[value])}
        value={audience}
        onChange={setAudience}
      />
      {audience === 'person' && (
        <label className="flex flex-col gap-1 text-13">
          Member
          <select name="userId" className="field" required>
            {others.map(({ userId, email }) => (
              <option key={userId} value={userId}>
                {email}
              </option>
            ))}
          </select>
        </label>
      )}
      <Radios
        legend="What is shown"
        options={LEVELS.filter(({ value }) => levels.includes(value))}
        value={level}
        onChange={setChosen}
      />
      {!levels.includes('full') && (
        <p className="text-13 text-muted">
          {session.contentExpiredAt === undefined
            ? 'Only the person who ran it can read and share its content.'
            : 'The retention policy removed its content.'}
        </p>
      )}
      {level !== 'figures' && (
        <fieldset className="flex flex-wrap items-end gap-3 text-13">
          <legend className="mb-1 font-medium text-text">Only a part (optional)</legend>
          {(['from', 'to'] as const).map((name) => (
            <label key={name} className="flex flex-col gap-1">
              {name === 'from' ? 'From event' : 'To event'}
              <input name={name} className="field w-28" type="number" min={1} max={eventCount} />
            </label>
          ))}
        </fieldset>
      )}
      {policy && (
        <label className="flex flex-col items-start gap-1 text-13">
          Expires after
          <select name="days" className="field" defaultValue={days.includes(7) ? 7 : most}>
            {days.map((count) => (
              <option key={count} value={count}>
                {count === 1 ? '1 day' : `${count} days`}
              </option>
            ))}
          </select>
        </label>
      )}
      <Shares sessionId={sessionId} />
    </FormDialog>
  );
}

const isForTeam = ({ visibility = 'team' }: Session): boolean => visibility === 'team';

/** The levels that the service allows the member to share. An admin cannot share content that only admins may read. */
function levelsToGive(session: Session, isTheirs: boolean): readonly ShareLevel[] {
  if (session.visibility === 'private' && !isTheirs) return [];
  const mayRead = session.contentExpiredAt === undefined && (isTheirs || isForTeam(session));
  return mayRead ? LEVELS.map(({ value }) => value) : ['figures'];
}

const AUDIENCES = [
  { value: 'organization', label: 'The organization', meaning: 'every member, after signing in' },
  { value: 'person', label: 'A member', meaning: 'one member, after signing in' },
  { value: 'link', label: 'Anybody with the link', meaning: 'without signing in, wherever the link ends up' },
] as const;

const LEVELS = [
  { value: 'full', label: 'Full', meaning: LEVEL_WORDS.full },
  { value: 'outline', label: 'Outline', meaning: LEVEL_WORDS.outline },
  { value: 'figures', label: 'Figures', meaning: LEVEL_WORDS.figures },
] as const;

function Shares({ sessionId }: { sessionId: string }) {
  const shares = useSharesInForce(sessionId);
  if (shares.length === 0) return null;
  return (
    <details className="border-line border-t pt-3 text-13">
      <summary className="cursor-pointer font-medium">
        {shares.length === 1 ? 'Shared already' : `Shared already, ${shares.length} times`}
      </summary>
      <ShareList sessionId={sessionId} shares={shares} label="Shared already" />
    </details>
  );
}
