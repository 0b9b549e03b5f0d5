import { Type } from 'typebox';
import { AuditEvent, AuditEventsQuery, AuditHead, AuditPage, AuditQuery } from './audit.ts';
import { Body, Envelope } from './common.ts';
import { Evidence, EvidenceBody } from './evidence.ts';
import { Hold, PlaceHoldBody } from './hold.ts';
import { MaskBody, Masked, MaskReceipt, MaskRun } from './mask.ts';
import { PolicyBody, ShownPolicy } from './policy.ts';
import { DeletionReceipt } from './receipt.ts';
import { Repositories } from './repositories.ts';
import { RetentionPreview, RetentionRules } from './retention.ts';
import { route } from './route.ts';
import { SessionSenders } from './senders.ts';
import { SessionViews } from './session-view.ts';
import { Storage } from './storage.ts';

/** The governance of an organization: what its owner allows, what is on hold, and who did what. */
export const GOVERNANCE = {
  getPolicy: route({
    method: 'GET',
    path: '/v1/organizations/me/policy',
    auth: 'member',
    summary: 'Show the policy of the organization, with defaults for what its owner has not set',
    replies: { 200: ShownPolicy },
    errors: [401, 403, 429, 503],
  }),
  replacePolicy: route({
    method: 'PUT',
    path: '/v1/organizations/me/policy',
    auth: 'admin',
    summary: 'Replace the whole policy, as an owner; a field that is left out returns to its default',
    body: PolicyBody,
    replies: { 200: ShownPolicy },
    errors: [400, 401, 403, 429, 503],
  }),
  listRepositories: route({
    method: 'GET',
    path: '/v1/organizations/me/repositories',
    auth: 'member',
    summary:
      'List the repositories of sessions that the caller may know of, in the form of lists, filters, rules and holds',
    replies: { 200: Repositories },
    errors: [401, 403, 429, 503],
  }),
  previewRetention: route({
    method: 'POST',
    path: '/v1/organizations/me/retention-preview',
    auth: 'admin',
    summary: 'Count the sessions that retention rules would affect now, without changing anything',
    body: Body({ retention: RetentionRules }),
    replies: { 200: RetentionPreview },
    errors: [400, 401, 403, 429, 503],
  }),
  listAudit: route({
    method: 'GET',
    path: '/v1/organizations/me/audit',
    auth: 'admin',
    summary:
      'Show who did what in the organization, the newest first; each entry contains the hash of the one before it',
    query: AuditQuery,
    replies: { 200: AuditPage },
    errors: [400, 401, 403, 429, 503],
  }),
  streamAuditEvents: route({
    method: 'GET',
    path: '/v1/organizations/me/audit/events',
    auth: 'admin',
    summary:
      'Read the audit log as lines of JSON in OCSF, the oldest first, for a SIEM that continues where it stopped',
    query: AuditEventsQuery,
    replies: { 200: AuditEvent },
    contentType: 'application/x-ndjson',
    errors: [400, 401, 403, 429, 503],
  }),
  listSessionViews: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/views',
    auth: 'member',
    summary: 'Show who looked at a session, as its person; if the session belongs to nobody, as an admin',
    replies: { 200: SessionViews },
    errors: [401, 403, 404, 429, 503],
  }),
  listSessionSenders: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/senders',
    auth: 'member',
    summary: 'Show which secrets of other machines sent events of a session, to those who may read it',
    replies: { 200: SessionSenders },
    errors: [401, 403, 404, 429, 503],
  }),
  getAuditHead: route({
    method: 'GET',
    path: '/v1/organizations/me/audit/head',
    auth: 'member',
    summary: 'Show the last entry of the audit log with the signature of the service, to keep as evidence',
    replies: { 200: AuditHead },
    errors: [401, 403, 429, 503],
  }),
  listHolds: route({
    method: 'GET',
    path: '/v1/organizations/me/holds',
    auth: 'admin',
    summary: 'List the legal holds: those in force first, then those that were released',
    replies: { 200: Envelope('holds', Type.Array(Hold)) },
    errors: [401, 403, 429, 503],
  }),
  placeHold: route({
    method: 'POST',
    path: '/v1/organizations/me/holds',
    auth: 'admin',
    summary: 'Place a legal hold on a session, a person, a repository or everything: nobody can delete what is on hold',
    body: PlaceHoldBody,
    replies: { 201: Envelope('hold', Hold) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  releaseHold: route({
    method: 'DELETE',
    path: '/v1/organizations/me/holds/{holdId}',
    auth: 'admin',
    summary: 'Release a legal hold, which stays in the list; repeating it changes nothing',
    replies: { 200: Envelope('hold', Hold) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  maskText: route({
    method: 'POST',
    path: '/v1/organizations/me/sessions/{sessionId}/mask',
    auth: 'member',
    summary: 'Mask every occurrence of a text in a session for good, or count the occurrences',
    body: MaskBody,
    replies: { 200: Masked },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
  listMasks: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/masks',
    auth: 'member',
    summary: 'Show who had texts masked in a session, when, and in how many places; the latest first',
    replies: { 200: Envelope('masks', Type.Array(MaskReceipt)) },
    errors: [401, 403, 404, 429, 503],
  }),
  maskEverywhere: route({
    method: 'POST',
    path: '/v1/organizations/me/masks',
    auth: 'admin',
    summary:
      'Mask a text for good in all sessions that the caller may read, in the background; or count its occurrences',
    body: MaskBody,
    replies: { 202: Envelope('run', MaskRun) },
    errors: [400, 401, 403, 429, 503],
  }),
  listMaskRuns: route({
    method: 'GET',
    path: '/v1/organizations/me/masks',
    auth: 'admin',
    summary: 'Show the progress of the caller’s masking in all sessions; the latest first',
    replies: { 200: Envelope('runs', Type.Array(MaskRun)) },
    errors: [401, 403, 429, 503],
  }),
  cancelMaskRun: route({
    method: 'DELETE',
    path: '/v1/organizations/me/masks/{runId}',
    auth: 'admin',
    summary:
      'Cancel the caller’s masking of a text in all sessions; what is masked stays masked, and cancelling after the end changes nothing',
    replies: { 200: Envelope('run', MaskRun) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  showEvidence: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/evidence',
    auth: 'member',
    summary: 'Show which events of a session the service has, as a chain with its signature',
    replies: { 200: Evidence },
    errors: [401, 403, 404, 429, 503],
  }),
  countersignSession: route({
    method: 'POST',
    path: '/v1/sessions/{sessionId}/evidence',
    auth: 'secret',
    summary:
      'Make the service sign which events it has of a session of the calling machine, and record the key of the machine',
    body: EvidenceBody,
    replies: { 200: Evidence },
    errors: [400, 401, 404, 429, 503],
  }),
  getDeletionReceipt: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/receipt',
    auth: 'admin',
    summary: 'Show what the deletion of a session removed, who asked for it, and why',
    replies: { 200: DeletionReceipt },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  getStorage: route({
    method: 'GET',
    path: '/v1/organizations/me/storage',
    auth: 'member',
    summary: 'Show how many bytes of its quotas the organization uses, and how fast they grow',
    replies: { 200: Storage },
    errors: [401, 403, 429, 503],
  }),
};
