import type { AuditAction, AuditEntry, AuditEvent, AuditParty } from '../../contract/audit.ts';
import { VERSION } from '../version.ts';

/*
 * Entries as events of the Open Cybersecurity Schema Framework 1.6, which a SIEM can import. The schema's class for API calls
 * (6003) is not used: it requires the caller's network address, which entries do not contain.
 */

const SCHEMA = '1.6.0';
const PRODUCT = { name: 'Session Capture', vendor_name: 'Session Capture', version: VERSION };

const ACCOUNT_CHANGE = 3001;
const AUTHENTICATION = 3002;
const ENTITY_MANAGEMENT = 3004;
/** Identity and access management. */
const CATEGORY = 3;
const INFORMATIONAL = 1;
const SUCCESS = 1;
const FAILURE = 2;
const OTHER = 99;

/** The activities of entity management, by the verb of an action. Any other verb is an update. */
const ENTITY_ACTIVITIES: Record<string, number> = {
  created: 1,
  issued: 1,
  registered: 1,
  installed: 1,
  exported: 2,
  deleted: 4,
  expired: 4,
  revoked: 4,
};
const UPDATE = 3;

/** The activities of account change, by the verb of an action. Any other action is sent under its own name. */
const ACCOUNT_ACTIVITIES: Record<string, number> = {
  invited: 1,
  invitation_accepted: 2,
  invitation_ended: 6,
  removed: 6,
  left: 6,
};

/** Actions that were refused. */
const REFUSED = new Set<AuditAction>(['machine.sign_in_denied', 'session.deletion_refused']);

export function toOcsf(organizationId: string, entry: AuditEntry): AuditEvent {
  const { sequence, at, actor, action, target, details = {}, withheld, previous, hash } = entry;
  const { class_uid, activity_id, ...of } = classOf(action, target);
  return {
    category_uid: CATEGORY,
    class_uid,
    activity_id,
    ...(activity_id === OTHER ? { activity_name: action } : {}),
    type_uid: class_uid * 100 + activity_id,
    severity_id: INFORMATIONAL,
    status_id: REFUSED.has(action) ? FAILURE : SUCCESS,
    time: Date.parse(at),
    metadata: {
      version: SCHEMA,
      product: PRODUCT,
      uid: `${organizationId}.${sequence}`,
      sequence,
      event_code: action,
      log_name: 'audit',
      original_time: at,
      tenant_uid: organizationId,
    },
    actor: { user: userOf(actor) },
    ...of,
    unmapped: { details, ...(withheld && { withheld }), previous, hash },
  };
}

type OfClass = Pick<AuditEvent, 'class_uid' | 'activity_id' | 'user' | 'service' | 'entity'>;

function classOf(action: AuditAction, target: AuditParty): OfClass {
  const [noun = '', verb = ''] = action.split('.');
  if (action === 'member.signed_in') {
    return { class_uid: AUTHENTICATION, activity_id: 1, user: userOf(target), service: { name: PRODUCT.name } };
  }
  if (noun === 'member') {
    return { class_uid: ACCOUNT_CHANGE, activity_id: ACCOUNT_ACTIVITIES[verb] ?? OTHER, user: userOf(target) };
  }
  const entity = { type: target.kind, uid: target.id };
  return { class_uid: ENTITY_MANAGEMENT, activity_id: ENTITY_ACTIVITIES[verb] ?? UPDATE, entity };
}

/** The user types that the schema knows. Other types are sent by name. */
const TYPES: Partial<Record<AuditParty['kind'], { type_id: number; type: string }>> = {
  person: { type_id: 1, type: 'User' },
  service: { type_id: 3, type: 'System' },
};

const userOf = ({ kind, id }: AuditParty) => ({ uid: id, ...(TYPES[kind] ?? { type_id: OTHER, type: kind }) });
