import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { ServiceError } from '../../contract/client.ts';
import { usePerson } from '../app/app.ts';
import { keys, useResource } from '../app/queries.ts';
import { AlonePage } from '../frame/alone.tsx';
import { Button } from '../kit/button.tsx';
import { showHidden } from '../kit/text/controls.ts';
import { ErrorNote } from '../shared/error-note.tsx';
import { DeviceDecision, DeviceOutcome } from './device-sign-in.tsx';

/** The page on which a person confirms a machine that `capture login` wants to sign in. */
export function DevicePage() {
  const { code } = useSearch({ from: '/device' });
  const name = showHidden(usePerson().organization.name);
  const [typed, setTyped] = useState<string>();
  return (
    <AlonePage title="Sign in a machine" about={`It wants access to ${name}.`} isMember>
      {code ? <Device userCode={code} isTyped={code === typed} onType={setTyped} /> : <CodeForm onType={setTyped} />}
    </AlonePage>
  );
}

interface Typing {
  /** Called with a code that the person typed on this page, not with a code from a link. */
  onType: (code: string) => void;
}

function Device({ userCode, isTyped, onType }: Typing & { userCode: string; isTyped: boolean }) {
  const device = useResource(
    keys.device(userCode),
    async (api, signal) => (await api.getDeviceSignIn({ query: { userCode }, signal })).body,
    {
      // From the confirmation until the machine has fetched its secret.
      refetchInterval: ({ state }) => (state.data?.status === 'approved' ? 1_000 : false),
      staleTime: Number.POSITIVE_INFINITY,
    },
  );
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
      The policy of {name} lets only owners and admins confirm a machine. Send one of them the address of this page; the
      code is valid for 10 minutes.
    </p>
  );
}

/** Asks for a code, at first or after an unknown code. */
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
          No machine is waiting with this code. Codes expire after 10 minutes: start again with{' '}
          <code>capture login</code>.
        </p>
      )}
      <label htmlFor="code" className="text-13 text-muted">
        Code in the terminal
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
          Continue
        </Button>
      </div>
    </form>
  );
}
