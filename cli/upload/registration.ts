import type { AgentId } from '../../contract/agent.ts';
import type { MachineReport, Platform } from '../../contract/environment.ts';
import type { Context } from '../context.ts';
import { EXIT, Failure } from '../failure.ts';
import { nameOfMachine } from '../machine-name.ts';
import type { Repository } from '../repository.ts';
import { VERSION } from '../version.ts';
import { hasCode, hasStatus } from './problem.ts';
import type { Retry } from './retry.ts';
import { aheadOf, requireId, type Service } from './service.ts';

export class AgentDisabled extends Failure {
  constructor(agent: string) {
    super(
      EXIT.failure,
      `An administrator of the organization has disabled the capture of ${agent} on this machine.`,
      'Ask an administrator to enable it on the agents page. Spooled events stay here until then.',
    );
  }
}

/** The registration of an agent. It names the session that caused it: when the session began, in ms, and its agent version. */
interface Registered {
  version: string | undefined;
  at: number;
  id: Promise<string>;
  /** When the service answered that an administrator has disabled the agent, in ms. */
  disabledAt?: number;
}

export interface RegistrationOptions {
  /** The repository that the command was started in. Absent if there is none, or if it must not be named. */
  repository?: Repository | undefined;
  /** How long a disabled agent is not asked about again; milliseconds. */
  disabledMs?: number | undefined;
}

const DAY = 86_400_000;

export type Registration = ReturnType<typeof createRegistration>;

/** Registers the machine and its agents at the service, on first need and once per process. */
export function createRegistration(
  service: Service,
  retry: Pick<Retry, 'attempt'>,
  { hostname, platform, now }: Pick<Context, 'hostname' | 'platform' | 'now'>,
  { repository, disabledMs = Number.POSITIVE_INFINITY }: RegistrationOptions = {},
) {
  let environment: Promise<string> | undefined;
  /** The last report that the service received. */
  let reported: string | undefined;
  const installations = new Map<AgentId, Registered>();

  async function registerEnvironment(): Promise<string> {
    const { root, remote, branch } = repository ?? {};
    const body = {
      hostname: nameOfMachine(hostname),
      platform: toPlatform(platform),
      serviceCliVersion: VERSION,
      ...(root !== undefined && { repoRoot: root }),
      ...(remote !== undefined && { repoRemote: remote }),
      ...(branch !== undefined && { gitBranch: branch }),
    };
    return retry.attempt(async () => {
      const reply = (await service.client.registerEnvironment({ body })).body;
      const environmentId = requireId(reply.environmentId);
      if (reply.environment.status === 'revoked') throw revoked();
      return environmentId;
    });
  }

  /** `earlier` is the version of an old session. It only counts while the service knows no other. */
  async function registerAgent(agentId: AgentId, version: string | undefined, earlier?: string): Promise<string> {
    const environmentId = await getEnvironment();
    const body = { agentId, ...(version !== undefined && { version: version.slice(0, 64) }) };
    return retry.attempt(async () => {
      let { installation } = (await service.client.registerAgent({ environmentId, body })).body;
      if (installation.status === 'disabled') throw new AgentDisabled(agentId);
      if (installation.version === undefined && earlier !== undefined) {
        const known = { agentId, version: earlier.slice(0, 64) };
        ({ installation } = (await service.client.registerAgent({ environmentId, body: known })).body);
      }
      return requireId(installation.installationId);
    });
  }

  function getEnvironment(): Promise<string> {
    environment ??= registerEnvironment();
    environment.catch(() => {
      environment = undefined;
    });
    return environment;
  }

  return {
    environment: getEnvironment,
    /** Registers an agent. Registers it again for a session that began later (`at`, ms) under another version. */
    installation(agentId: AgentId, version: string | undefined, at: number): Promise<string> {
      // An old session that is imported today does not show which version is installed now.
      const isNew = Date.now() - at < DAY;
      const installed = isNew ? version : undefined;
      const known = installations.get(agentId);
      const isOver = known?.disabledAt !== undefined && Date.now() - known.disabledAt >= disabledMs;
      if (known && !isOver && (installed === undefined || installed === known.version || at < known.at))
        return known.id;
      const registered: Registered = {
        version: installed,
        at,
        id: registerAgent(agentId, installed, isNew ? undefined : version),
      };
      installations.set(agentId, registered);
      registered.id.catch((error) => {
        // If an administrator has disabled an agent, it is disabled for all its sessions.
        if (error instanceof AgentDisabled) registered.disabledAt = Date.now();
        else if (installations.get(agentId) === registered) installations.delete(agentId);
      });
      return registered.id;
    },
    /** Makes the next call register everything again, because the service does not know the machine any more. */
    forget(): void {
      environment = undefined;
      installations.clear();
    },
    /** Reports how well capture works on this machine. A service without this route is not asked again. */
    async report(health: MachineReport): Promise<void> {
      const text = JSON.stringify(health);
      if (text === reported) return;
      const environmentId = await getEnvironment();
      try {
        await service.client.reportHealth({ environmentId, body: health });
        reported = text;
      } catch (error) {
        if (!hasStatus(error, 404)) throw error;
        reported = text;
      }
    },
    /** Returns how many milliseconds this machine's clock is ahead of the service's, as far as the answer says. */
    async heartbeat(): Promise<number | undefined> {
      const environmentId = await getEnvironment();
      try {
        const body = { serviceCliVersion: VERSION };
        const { headers } = await retry.attempt(() => service.client.heartbeat({ environmentId, body }));
        return aheadOf(headers, now());
      } catch (error) {
        if (hasCode(error, 'environment_revoked') || hasStatus(error, 403)) throw revoked();
        if (!hasStatus(error, 404)) throw error;
        environment = undefined;
        await getEnvironment();
        return undefined;
      }
    },
  };
}

/** The contract's word for one of Node's platforms. */
export const toPlatform = (platform: string): Platform =>
  platform === 'darwin' || platform === 'win32' ? platform : 'linux';

function revoked(): Failure {
  return new Failure(
    EXIT.failure,
    'This machine was revoked by an administrator of the organization, so nothing more is captured from it.',
    'Revocation is final. Ask an administrator if it was a mistake: a machine with another host name can be registered.',
  );
}
