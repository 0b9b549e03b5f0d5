import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { DeviceSignIn } from '../../contract/device.ts';
import { paths } from '../../contract/pages.ts';
import type { Plane } from '../../contract/secret.ts';
import { keys, useChange } from '../app/queries.ts';
import { Button } from '../kit/button.tsx';
import { Pairs } from '../kit/pairs.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { Ago } from '../kit/time.tsx';
import { SYSTEMS } from '../shared/environment-name.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { PlaneChoice } from './plane-choice.tsx';

interface Props {
  userCode: string;
  device: DeviceSignIn;
  /** Whether the person typed the code on this page. A code from a link may belong to somebody else. */
  isTyped: boolean;
}

/** If the code came with a link, the person types this many of its last characters from their own terminal. */
const TYPED_CHARACTERS = 4;
const plain = (code: string) => code.toUpperCase().replace(/[^0-9A-Z]/g, '');

/** Shows the machine and what it gets, and asks the person to confirm. */
export function DeviceDecision({ userCode, device, isTyped }: Props) {
  const [ending, setEnding] = useState('');
  const isRead = isTyped || plain(ending) === plain(userCode).slice(-TYPED_CHARACTERS);
  const isWrong = !isRead && plain(ending).length >= TYPED_CHARACTERS;
  const [plane, setPlane] = useState<Plane>('live');
  const isForReading = device.purpose === 'reading';
  const decide = useChange(
    (api, decision: 'approve' | 'deny') =>
      api.decideDeviceSignIn({ body: { userCode, decision, secretEnvironment: plane } }),
    [keys.device(userCode), keys.secrets],
  );
  return (
    <form
      className="flex flex-col gap-6"
      onSubmit={(event) => {
        event.preventDefault();
        decide.mutate('approve');
      }}
    >
      <div className="flex flex-col gap-1">
        <p className="text-13 text-muted">The terminal must show this code:</p>
        {isTyped ? (
          <p className="font-mono text-20 tracking-wider">{userCode.toUpperCase()}</p>
        ) : (
          <>
            <p className="flex items-center gap-2 font-mono text-20 tracking-wider">
              {userCode.toUpperCase().slice(0, -TYPED_CHARACTERS)}
              <input
                aria-label="The last four characters of the code in the terminal"
                aria-describedby="ending"
                aria-invalid={isWrong}
                className="field w-24 font-mono text-20 uppercase tracking-wider"
                maxLength={TYPED_CHARACTERS}
                autoComplete="off"
                spellCheck={false}
                value={ending}
                onChange={(event) => setEnding(event.target.value)}
              />
            </p>
            <p id="ending" role={isWrong ? 'alert' : undefined} className={isWrong ? 'text-bad' : 'text-13 text-muted'}>
              {isWrong
                ? 'The link is for another code. Check the terminal again, or refuse: the link may come from somebody else.'
                : 'Type the last four characters of the code in your own terminal.'}
            </p>
          </>
        )}
      </div>
      <Pairs
        nameWidth={80}
        pairs={[
          { name: 'Machine', value: showHidden(device.hostname) },
          { name: 'System', value: `${SYSTEMS[device.platform]}, capture ${showHidden(device.serviceCliVersion)}` },
          {
            name: 'Requested',
            value: (
              <>
                <Ago time={device.createdAt} />, from the address {device.address}
              </>
            ),
          },
          {
            name: 'It gets',
            value: isForReading
              ? 'to read every session that you may see, for 15 minutes, in your name. It can change nothing. People see in their sessions that you looked.'
              : 'a secret of its own. With it, the machine can send sessions, delete its own, and check which sessions were already sent. It cannot read events. You can revoke it on the page Secrets.',
          },
        ]}
      />
      {!isForReading && <PlaneChoice plane={plane} onChange={setPlane} />}
      <p className="text-13">
        Confirm only if you have just started this sign-in yourself. Anybody else who sent you here wants to{' '}
        {isForReading ? 'read the sessions of your organization' : 'write into your organization'}.
      </p>
      {decide.isError && <ErrorNote error={decide.error} />}
      <div className="flex gap-2">
        <Button type="submit" tone="primary" disabled={decide.isPending || !isRead}>
          {isForReading ? 'Let this machine read' : 'Sign in this machine'}
        </Button>
        <Button disabled={decide.isPending} onClick={() => decide.mutate('deny')}>
          Refuse
        </Button>
      </div>
    </form>
  );
}

/** The outcome of a decided sign-in. */
export function DeviceOutcome({ device: { status, hostname, purpose } }: Pick<Props, 'device'>) {
  const isForReading = purpose === 'reading';
  const machine = showHidden(hostname);
  return (
    <div role="status" className="flex flex-col items-start gap-3">
      {status === 'approved' && (
        <p className="flex items-center gap-2">
          <span className="pulse size-2 rounded-full bg-ok" />
          Confirmed. The terminal continues by itself in a moment.
        </p>
      )}
      {status === 'issued' && (
        <>
          <p>
            <strong className="font-semibold text-ok">
              {machine} {isForReading ? 'reads for 15 minutes' : 'is signed in'}.
            </strong>{' '}
            Continue in its terminal; you can close this page.
          </p>
          {!isForReading && (
            <Link to={paths.welcome()} className="link">
              See what arrives
            </Link>
          )}
        </>
      )}
      {status === 'denied' && <p>Refused. {machine} got nothing.</p>}
    </div>
  );
}
