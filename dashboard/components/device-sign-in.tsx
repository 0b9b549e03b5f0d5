import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { DeviceSignIn } from '../../contract/device.ts';
import type { Plane } from '../../contract/secret.ts';
import { paths } from '../paths.ts';
import { keys, useChange } from '../queries.ts';
import { showHidden } from '../text/controls.ts';
import { Button } from '../ui/button.tsx';
import { Ago } from '../ui/time.tsx';
import { ErrorNote } from './error-note.tsx';
import { PlaneChoice } from './plane-choice.tsx';

const SYSTEMS: Record<DeviceSignIn['platform'], string> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

interface Props {
  userCode: string;
  device: DeviceSignIn;
}

/** Which machine it is, what it is given, and the question. */
export function DeviceDecision({ userCode, device }: Props) {
  const [plane, setPlane] = useState<Plane>('live');
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
        <p className="font-mono text-20 tracking-wider">{userCode.toUpperCase()}</p>
      </div>
      <dl className="flex flex-col gap-1 text-13">
        <Row name="Machine">{showHidden(device.hostname)}</Row>
        <Row name="System">
          {SYSTEMS[device.platform]}, capture {showHidden(device.serviceCliVersion)}
        </Row>
        <Row name="Asked">
          <Ago time={device.createdAt} />, from the address {device.address}
        </Row>
        <Row name="It is given">
          a secret of its own. With it the machine sends sessions, deletes its own, and checks which sessions were sent
          already. It reads no events. You can revoke it on the page Secrets.
        </Row>
      </dl>
      <PlaneChoice plane={plane} onChange={setPlane} />
      <p className="text-13">
        Confirm only what you began yourself, just now. Whoever sent you here otherwise wants to write into your
        organization.
      </p>
      {decide.isError && <ErrorNote error={decide.error} />}
      <div className="flex gap-2">
        <Button type="submit" tone="primary" disabled={decide.isPending}>
          Sign in this machine
        </Button>
        <Button disabled={decide.isPending} onClick={() => decide.mutate('deny')}>
          Refuse
        </Button>
      </div>
    </form>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-3">
      <dt className="w-20 flex-none text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** What became of it. */
export function DeviceOutcome({ device: { status, hostname } }: Pick<Props, 'device'>) {
  const machine = showHidden(hostname);
  return (
    <div role="status" className="flex flex-col items-start gap-3">
      {status === 'approved' && (
        <p className="flex items-center gap-2">
          <span className="pulse size-2 rounded-full bg-ok" />
          Confirmed. The terminal goes on by itself in a moment.
        </p>
      )}
      {status === 'issued' && (
        <>
          <p>
            <strong className="font-semibold text-ok">{machine} is signed in.</strong> Go on in its terminal; you can
            close this page.
          </p>
          <Link to={paths.welcome()} className="link">
            See what comes
          </Link>
        </>
      )}
      {status === 'denied' && <p>Refused. {machine} was given nothing.</p>}
    </div>
  );
}
