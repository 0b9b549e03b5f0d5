import type { Scenario } from '../scenarios.ts';
import { AUDIT_SCENARIOS } from './audit.ts';
import { BOOTSTRAP } from './bootstrap.ts';
import { CAPTURE_SCENARIOS } from './capture.ts';
import { DEVICES } from './devices.ts';
import { DIGEST_SCENARIOS } from './digests.ts';
import { DIRECTORY } from './directory.ts';
import { ENVIRONMENTS } from './environments.ts';
import { EVENTS } from './events.ts';
import { EVIDENCE } from './evidence.ts';
import { EXTENSION_SCENARIOS } from './extensions.ts';
import { HOLDS } from './holds.ts';
import { INSTALLATIONS } from './installations.ts';
import { INVITATIONS } from './invitations.ts';
import { MASKS } from './masks.ts';
import { MEMBERS } from './members.ts';
import { MEMBERSHIPS } from './memberships.ts';
import { ORGANIZATIONS } from './organizations.ts';
import { POLICIES } from './policies.ts';
import { RESTRICTIONS } from './restrictions.ts';
import { REVIEW_SCENARIOS } from './review.ts';
import { SEARCH_SCENARIOS } from './search.ts';
import { SECRETS } from './secrets.ts';
import { SESSION_VIEWS } from './session-views.ts';
import { SESSIONS } from './sessions.ts';
import { SHARES } from './shares.ts';
import { VIEWS } from './views.ts';
import { VISIBILITY } from './visibility.ts';

/** The scenarios of all nouns. */
export const SCENARIOS: readonly Scenario[] = [
  ...AUDIT_SCENARIOS,
  ...BOOTSTRAP,
  ...ORGANIZATIONS,
  ...POLICIES,
  ...MEMBERS,
  ...MEMBERSHIPS,
  ...INVITATIONS,
  ...SECRETS,
  ...ENVIRONMENTS,
  ...INSTALLATIONS,
  ...SESSIONS,
  ...SESSION_VIEWS,
  ...EVENTS,
  ...EXTENSION_SCENARIOS,
  ...CAPTURE_SCENARIOS,
  ...DIGEST_SCENARIOS,
  ...DEVICES,
  ...REVIEW_SCENARIOS,
  ...SEARCH_SCENARIOS,
  ...VIEWS,
  ...HOLDS,
  ...RESTRICTIONS,
  ...MASKS,
  ...VISIBILITY,
  ...DIRECTORY,
  ...SHARES,
  ...EVIDENCE,
];
