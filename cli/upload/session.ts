import type { AgentId } from '../../contract/agent.ts';
import { EXIT, Failure } from '../failure.ts';
import type { Batch } from '../spool/batches.ts';
import type { Spool } from '../spool/open.ts';
import type { SessionRow } from '../spool/sessions.ts';
import type { Gate } from './gate.ts';
import { hasCode, hasStatus } from './problem.ts';
import type { Registration } from './registration.ts';
import { requireId, type Service } from './service.ts';

export interface SessionDeps {
  spool: Spool;
  service: Service;
  gate: Gate;
  registration: Registration;
  now: () => number;
  /** The repository that a folder belongs to. */
  findRepository: (folder: string) => string | undefined;
}

/** Opens and closes sessions at the service as the spool needs them. */
export function createSessionKeeper({ spool, service, gate, registration, now, findRepository }: SessionDeps) {
  let canOpenPast = true;

  /** The service's session that the batch goes to. */
  async function open(id: number, batch: Batch): Promise<string> {
    const session = spool.sessions.get(id);
    if (session.state === 'open' && session.serviceId !== undefined) return session.serviceId;
    // Opening has no idempotency key. When the reply to an earlier try was lost, that one left an empty session behind:
    // rather one too many than events without one.
    spool.transactLightly(() => {
      if (session.state === 'opening') spool.count('sessionsReopened');
      spool.sessions.setState(id, 'opening');
    });
    const serviceId = await request(session, batch);
    // On the disk before the first append: forgotten, its events would be sent once more into another session.
    spool.transact(() => {
      spool.sessions.setState(id, 'open', serviceId);
      spool.count('sessionsOpened');
      if (session.state === 'closed') spool.count('sessionsContinued');
    });
    return serviceId;
  }

  async function request(session: SessionRow, batch: Batch, isSecondTry = false): Promise<string> {
    const startedAt = batch.firstAt ?? now();
    const agentId = session.agent as AgentId;
    const environmentId = await registration.environment();
    const agentInstallationId = await registration.installation(agentId, session.agentVersion, startedAt);
    const title = session.title ?? session.prompt;
    const repoRoot = session.cwd && (findRepository(session.cwd) ?? session.cwd);
    const body = {
      environmentId,
      agentInstallationId,
      agentId,
      ...(title !== undefined && { title }),
      ...(repoRoot && { repoRoot }),
      ...(session.branch !== undefined && { gitBranch: session.branch }),
    };
    try {
      if (canOpenPast) {
        const past = { ...body, startedAt: new Date(startedAt).toISOString() };
        return await gate.attempt(async () =>
          requireId((await service.client.openPastSession({ body: past })).body.sessionId),
        );
      }
      return await gate.attempt(async () => requireId((await service.client.openSession({ body })).body.sessionId));
    } catch (error) {
      if (canOpenPast && hasStatus(error, 404, 405)) {
        canOpenPast = false;
        return request(session, batch, isSecondTry);
      }
      // The registration may have been lost with the service's data, or the machine was revoked: registering tells.
      if (!isSecondTry && hasCode(error, 'environment_unusable', 'installation_unusable')) {
        registration.forget();
        return request(session, batch, true);
      }
      throw error;
    }
  }

  async function complete(id: number): Promise<void> {
    const { serviceId, lastAt, state } = spool.sessions.get(id);
    if (state !== 'open' || serviceId === undefined) return;
    const body = {
      status: 'completed' as const,
      ...(lastAt !== undefined && { endedAt: new Date(lastAt).toISOString() }),
    };
    try {
      await gate.attempt(() => service.client.completeSession({ sessionId: serviceId, body }));
    } catch (error) {
      // 409: closed before, by an earlier try or by an administrator. 404: there is nothing to close.
      if (!hasStatus(error, 404, 409)) throw error;
    }
    spool.transactLightly(() => spool.sessions.setState(id, 'closed'));
  }

  return {
    open,
    complete,
    /** The next batch opens another session: the service takes no more events into this one. */
    leave: (id: number) => spool.sessions.setState(id, 'closed'),
  };
}

/** What to do about an error that trying again does not heal. */
export function explainRefusal(error: unknown): unknown {
  if (hasStatus(error, 401)) {
    return new Failure(
      EXIT.signInRequired,
      `The service does not accept the organization secret: ${error.message}`,
      'Sign in with `capture login`. What was captured meanwhile is kept and sent then.',
      error,
    );
  }
  if (hasStatus(error, 403, 404)) {
    return new Failure(
      EXIT.failure,
      `The service refused: ${error.message}`,
      'Check with `capture status` that this secret belongs to the organization that the captures are for.',
      error,
    );
  }
  return error;
}
