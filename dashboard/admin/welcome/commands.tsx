import { useState } from 'react';
import { ONBOARDING, onboarding, onboardingBySecret, rehearsal } from '../../../contract/onboarding.ts';
import { useScriptSums } from '../../app/queries.ts';
import { hrefOf, serviceAddress } from '../../kit/base-path.ts';
import { Button } from '../../kit/button.tsx';
import { CopyLine } from '../../kit/copy.tsx';
import { SYSTEM } from '../../kit/platform.ts';
import { Tabs } from '../../kit/tabs.tsx';
import { ErrorNote } from '../../shared/error-note.tsx';
import { SecretValue, useIssueSecret } from '../issue-secret.tsx';

const NEEDS = {
  Linux: 'In a terminal, as yourself. If Node.js 24 or newer is missing, the script brings its own.',
  macOS: 'In a terminal, as yourself. It needs Node.js 24 or newer.',
  Windows: 'In PowerShell, as yourself. It needs Node.js 24 or newer.',
};

/** The command for each system, and below it two alternatives. */
export function Commands({ mayIssue }: { mayIssue: boolean }) {
  const [system, setSystem] = useState<string>(SYSTEM);
  const sums = useScriptSums();
  const lines = onboarding(serviceAddress()).flatMap(({ systems, command, file }) =>
    systems.map((name) => ({ name, command, sum: sums?.get(file) })),
  );
  return (
    <div className="flex flex-col gap-3">
      <Tabs label="System of the machine" tabs={lines.map(({ name }) => name)} current={system} onChange={setSystem}>
        {lines
          .filter(({ name }) => name === system)
          .map(({ name, command, sum }) => (
            <div key={name} className="flex flex-col gap-2">
              <CopyLine text={command} label={`Copy the line for ${name}`} />
              <p className="text-13 text-muted">
                {NEEDS[name]} {ONBOARDING}
              </p>
              {sum !== undefined && (
                <p className="text-13 text-muted">
                  SHA-256 of the script: <samp className="break-all">{sum}</samp>
                </p>
              )}
            </div>
          ))}
      </Tabs>
      <details className="text-13">
        <summary className="w-fit cursor-pointer text-muted">With a secret, where no browser can confirm it</summary>
        <BySecret mayIssue={mayIssue} system={system} />
      </details>
      <details className="text-13">
        <summary className="w-fit cursor-pointer text-muted">Try it without installing</summary>
        <div className="flex flex-col gap-2 pt-3">
          <p className="text-muted">
            This shows what would be sent, with secrets masked, and sends nothing. It needs npm and Node.js 24:
          </p>
          <CopyLine text={rehearsal(serviceAddress())} label="Copy the line that sends nothing" />
          <p className="text-muted">
            All of it comes from this service: <Script path="/install">the script</Script>,{' '}
            <Script path="/install.ps1">the one for Windows</Script>,{' '}
            <Script path="/install/SHA256SUMS">the checksums</Script> that they compare the archives with.
          </p>
        </div>
      </details>
    </div>
  );
}

function Script({ path, children }: { path: string; children: string }) {
  return (
    <a className="link" href={hrefOf(path)} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

function BySecret({ mayIssue, system }: { mayIssue: boolean; system: string }) {
  const issue = useIssueSecret();
  const ways = onboardingBySecret(serviceAddress());
  const { commands = [] } = ways.find(({ systems }) => systems.includes(system)) ?? {};
  return (
    <div className="flex flex-col gap-2 pt-3">
      {!mayIssue && (
        <p className="text-muted">Ask an owner or an admin of the organization for a secret. Then, on the machine:</p>
      )}
      {mayIssue && issue.data && <SecretValue value={issue.data.value} />}
      {mayIssue && !issue.data && (
        <p className="flex items-center gap-3 text-muted">
          <Button
            size="small"
            disabled={issue.isPending}
            onClick={() => issue.mutate({ name: 'first machine', secretEnvironment: 'live' })}
          >
            Issue a secret
          </Button>
          Its value is shown once. Then, on the machine:
        </p>
      )}
      {issue.isError && <ErrorNote error={issue.error} />}
      {commands.map((line) => (
        <CopyLine key={line} text={line} label={`Copy: ${line}`} />
      ))}
    </div>
  );
}
