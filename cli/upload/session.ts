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
    spool.journal.opened(session.agent, session.agentSession, serviceId);
    // On the disk before the first append: forgotten, its events would be sent once more into another session.
    spool.transact(() => {
      spool.sessions.setState(id, 'open', serviceId);
      spool.count('sessionsOpened');
      if (session.state === 'closed') spool.count('sessionsContinued');
    });
    return serviceId;
  }

  async function request(session: SessionRow, batch: Batch): Promise<string> {
    try {
      return await requestAs(session, batch, describeSession(session));
    } catch (error) {
      // The registration may have been lost with the service's data, or the machine was revoked: registering tells.
      if (hasCode(error, 'environment_unusable', 'installation_unusable')) {
        registration.forget();
        return requestAs(session, batch, describeSession(session));
      }
      if (!hasStatus(error, 400)) throw error;
    }
    try {
      // Better without its title than not at all.
      return await requestAs(session, batch, {});
    } catch (error) {
      throw hasStatus(error, 400) ? new SessionRefused(session, error) : error;
    }
  }

  function describeSession({ title, prompt, cwd, branch }: SessionRow) {
    const name = title ?? prompt;
    return {
      ...(name !== undefined && { title: name }),
      ...(cwd !== undefined && { repoRoot: findRepository(cwd) ?? cwd }),
      ...(branch !== undefined && { gitBranch: branch }),
    };
  }

  async function requestAs(session: SessionRow, batch: Batch, description: object): Promise<string> {
    const startedAt = batch.firstAt ?? now();
    const agentId = session.agent as AgentId;
    const environmentId = await registration.environment();
    const agentInstallationId = await registration.installation(agentId, session.agentVersion, startedAt);
    const body = { environmentId, agentInstallationId, agentId, ...description };
    const { openPastSession, openSession } = service.client;
    if (canOpenPast) {
      const past = { ...body, startedAt: new Date(startedAt).toISOString() };
      try {
        return await gate.attempt(async () => requireId((await openPastSession({ body: past })).body.sessionId));
      } catch (error) {
        if (!hasStatus(error, 404, 405)) throw error;
        canOpenPast = false;
      }
    }
    return gate.attempt(async () => requireId((await openSession({ body })).body.sessionId));
  }

  async function complete(id: number): Promise<void> {
    const { serviceId, lastAt, state } = spool.sessions.get(id);
    if (state !== 'open' || serviceId === undefined) return;
    const endedAt = lastAt === undefined ? {} : { endedAt: new Date(lastAt).toISOString() };
    try {
      await gate.attempt(() =>
        service.client.completeSession({ sessionId: serviceId, body: { status: 'completed', ...endedAt } }),
      );
    } catch (error) {
      // 409: closed before, by an earlier try or by an administrator. Nothing else about closing is worth stopping for.
      if (!hasStatus(error, 400, 404, 409)) throw error;
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

/** The service will not have the session, whatever it is called. Its events stay in the spool; the others go on. */
export class SessionRefused extends Failure {
  readonly session: number;

  constructor({ id, agent, agentSession }: SessionRow, cause: Error) {
    const sentence = `The service refuses session ${agentSession} of ${agent}: ${cause.message}`;
    super(
      EXIT.failure,
      sentence,
      'Its events stay in the spool. A newer version of capture or of the service may help.',
    );
    this.session = id;
  }
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
