import type { AddOnKind } from '../../contract/names.ts';

/* The types that SQL cannot express. A migration names the type of a column behind `--:`. */

export type { AgentId } from '../../contract/agent.ts';
export type { AuditParty } from '../../contract/audit.ts';
export type { DevicePurpose } from '../../contract/device.ts';
export type { Platform } from '../../contract/environment.ts';
export type { HoldTarget } from '../../contract/hold.ts';
export type { MaskOutcome, RunOutcome } from '../../contract/mask.ts';
export type { Role } from '../../contract/organization.ts';
export type { RetentionTarget } from '../../contract/retention.ts';
export type { Plane } from '../../contract/secret.ts';
export type { Visibility } from '../../contract/session.ts';
export type { Look, Surface } from '../../contract/session-view.ts';
export type { ShareAudience, ShareLevel } from '../../contract/share.ts';
export type { AddOnKind };

/** Epoch milliseconds. */
export type Time = number;

/** By which kind of value a session is found. */
export type ValueField =
  | 'repository'
  | 'branch'
  | 'file'
  | 'edited'
  | 'command'
  | 'tool'
  | 'model'
  | 'commit'
  | 'hour'
  | 'half_hour'
  | 'tests'
  | AddOnKind;
