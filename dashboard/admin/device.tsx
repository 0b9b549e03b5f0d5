import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ServiceError } from '../../contract/client.ts';
import { useApp, usePerson } from '../app/app.ts';
import { keys } from '../app/queries.ts';
import { AlonePage } from '../frame/alone.tsx';
import { Button } from '../kit/button.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { DeviceDecision, DeviceOutcome } from './device-sign-in.tsx';

/** Where a person confirms a machine that `capture login` wants to sign in. */
export function DevicePage() {
  const { code } = useSearch({ from: '/device' });
  const name = showHidden(usePerson().organization.name);
  const [typed, setTyped] = useState<string>();
  return (
    <AlonePage title="Sign in a machine" about={`It will send sessions to ${name}.`} isMember>
      {code ? <Device userCode={code} isTyped={code === typed} onType={setTyped} /> : <CodeForm onType={setTyped} />}
    </AlonePage>
  );
}

interface Typing {
  /** Told of the code that the person typed on this page; one that came with the link was not. */
  onType: (code: string) => void;
}

function Device({ userCode, isTyped, onType }: Typing & { userCode: string; isTyped: boolean }) {
  const { api } = useApp();
  const device = useQuery({
    queryKey: keys.device(userCode),
    queryFn: async ({ signal }) => (await api.getDeviceSignIn({ query: { userCode }, signal })).body,
    // From the yes until the machine has taken its secret.
    refetchInterval: ({ state }) => (state.data?.status === 'approved' ? 1_000 : false),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (device.isPending) return null;
  if (device.data?.status === 'pending')
    return <DeviceDecision userCode={userCode} device={device.data} isTyped={isTyped} />;
  if (device.data) return <DeviceOutcome device={device.data} />;
  const status = device.error instanceof ServiceError ? device.error.status : undefined;
  if (status === 403) return <AdminsOnly />;
  if (status !== 404) return <ErrorNote error={device.error} onRetry={() => void device.refetch()} />;
  return <CodeForm wrong={userCode} onType={onType} />;
}

function AdminsOnly() {
  const name = showHidden(usePerson().organization.name);
  return (
    <p>
      Only an owner or an admin of {name} may confirm a machine: its policy says so. Send one of them the address of
      this page; the code is good for 10 minutes.
    </p>
  );
}

/** For a code that was read elsewhere, and after one that is none. */
function CodeForm({ wrong, onType }: Typing & { wrong?: string }) {
  const navigate = useNavigate();
  const [code, setCode] = useState('');
  return (
    <form
      className="flex max-w-[320px] flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onType(code.trim());
        void navigate({ to: '/device', search: { code: code.trim() } });
      }}
    >
      {wrong && (
        <p role="alert" className="text-bad">
          No machine is waiting with this code. It may have run out after its 10 minutes: start again with{' '}
          <code>capture login</code>.
        </p>
      )}
      <label htmlFor="code" className="text-13 text-muted">
        The code that the terminal shows
      </label>
      <div className="flex gap-2">
        <input
          id="code"
          className="field font-mono uppercase"
          required
          maxLength={32}
          autoComplete="off"
          spellCheck={false}
          placeholder="ABCD-EFGH"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <Button type="submit" tone="primary" disabled={code.trim() === ''}>
          Go on
        </Button>
      </div>
    </form>
  );
}
