import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { agentHandlers } from './agents.ts';
import { auditHandlers } from './audit.ts';
import { bootstrapHandlers } from './bootstrap.ts';
import { captureHandlers } from './capture.ts';
import { deviceHandlers } from './devices.ts';
import { digestHandlers } from './digests.ts';
import { directoryHandlers } from './directory.ts';
import { environmentHandlers } from './environments.ts';
import { eventHandlers } from './events.ts';
import { evidenceHandlers } from './evidence.ts';
import { holdHandlers } from './holds.ts';
import { liveHandlers } from './live.ts';
import { machineHealthHandlers } from './machine-health.ts';
import { machinePersonHandlers } from './machine-person.ts';
import { maskHandlers } from './masks.ts';
import { memberHandlers } from './members.ts';
import { organizationHandlers } from './organizations.ts';
import { personHandlers } from './people.ts';
import { policyHandlers } from './policies.ts';
import { reviewHandlers } from './review.ts';
import { scimHandlers } from './scim.ts';
import { searchHandlers } from './search.ts';
import { secretHandlers } from './secrets.ts';
import { sessionViewHandlers } from './session-views.ts';
import { sessionHandlers } from './sessions.ts';
import { shareHandlers } from './shares.ts';
import { viewHandlers } from './views.ts';

/** A handler for every row of both tables. */
export const createHandlers = (deps: Deps): Handlers => ({
  ...bootstrapHandlers(deps),
  ...auditHandlers(deps),
  ...organizationHandlers(deps),
  ...policyHandlers(deps),
  ...memberHandlers(deps),
  ...personHandlers(deps),
  ...secretHandlers(deps),
  ...deviceHandlers(deps),
  ...environmentHandlers(deps),
  ...machineHealthHandlers(deps),
  ...machinePersonHandlers(deps),
  ...agentHandlers(deps),
  ...sessionHandlers(deps),
  ...sessionViewHandlers(deps),
  ...eventHandlers(deps),
  ...maskHandlers(deps),
  ...evidenceHandlers(deps),
  ...captureHandlers(deps),
  ...digestHandlers(deps),
  ...directoryHandlers(deps),
  ...scimHandlers(deps),
  ...liveHandlers(deps),
  ...reviewHandlers(deps),
  ...searchHandlers(deps),
  ...viewHandlers(deps),
  ...shareHandlers(deps),
  ...holdHandlers(deps),
});
