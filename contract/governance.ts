import { Type } from 'typebox';
import { AuditEvent, AuditEventsQuery, AuditHead, AuditPage, AuditQuery } from './audit.ts';
import { Body, Envelope } from './common.ts';
import { Evidence, EvidenceBody } from './evidence.ts';
import { Hold, PlaceHoldBody } from './hold.ts';
import { MaskBody, Masked, MaskReceipt, MaskRun } from './mask.ts';
import { PolicyBody, ShownPolicy } from './policy.ts';
import { DeletionReceipt } from './receipt.ts';
import { RetentionPreview, RetentionRules } from './retention.ts';
import { route } from './route.ts';
import { SessionViews } from './session-view.ts';
import { Storage } from './storage.ts';

/** The governance of an organization: what its owner allows, what is on hold, and who did what. */
export const GOVERNANCE = {
  getPolicy: route({
    method: 'GET',
    path: '/v1/organizations/me/policy',
    auth: 'member',
    summary: 'Show the policy that holds in the organization, with the defaults of what its owner has not set',
    replies: { 200: ShownPolicy },
    errors: [401, 403, 429, 503],
  }),
  replacePolicy: route({
    method: 'PUT',
    path: '/v1/organizations/me/policy',
    auth: 'admin',
    summary: 'Replace the whole policy, as an owner; what is left out has its default again',
    body: PolicyBody,
    replies: { 200: ShownPolicy },
    errors: [400, 401, 403, 429, 503],
  }),
  previewRetention: route({
    method: 'POST',
    path: '/v1/organizations/me/retention-preview',
    auth: 'admin',
    summary: 'Count the sessions that rules of retention would act on now, without changing anything',
    body: Body({ retention: RetentionRules }),
    replies: { 200: RetentionPreview },
    errors: [400, 401, 403, 429, 503],
  }),
  listAudit: route({
    method: 'GET',
    path: '/v1/organizations/me/audit',
    auth: 'admin',
    summary: 'Show who did what in the organization, the newest first; each entry holds the hash of the one before it',
    query: AuditQuery,
    replies: { 200: AuditPage },
    errors: [400, 401, 403, 429, 503],
  }),
  streamAuditEvents: route({
    method: 'GET',
    path: '/v1/organizations/me/audit/events',
    auth: 'admin',
    summary: 'Read the audit log as lines of JSON in OCSF, the oldest first, for a SIEM that goes on where it stopped',
    query: AuditEventsQuery,
    replies: { 200: AuditEvent },
    contentType: 'application/x-ndjson',
    errors: [400, 401, 403, 429, 503],
  }),
  listSessionViews: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/views',
    auth: 'member',
    summary: 'Show the person of a session who looked at it; admins, where it is nobody’s',
    replies: { 200: SessionViews },
    errors: [401, 403, 404, 429, 503],
  }),
  getAuditHead: route({
    method: 'GET',
    path: '/v1/organizations/me/audit/head',
    auth: 'member',
    summary: 'Show the last entry of the audit log under the signature of the service, to keep as evidence',
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
    summary:
      'Place a legal hold on a session, a person, a repository or everything: nobody and nothing deletes what is held',
    body: PlaceHoldBody,
    replies: { 201: Envelope('hold', Hold) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  releaseHold: route({
    method: 'DELETE',
    path: '/v1/organizations/me/holds/{holdId}',
    auth: 'admin',
    summary: 'Release a legal hold, which stays in the list; again changes nothing',
    replies: { 200: Envelope('hold', Hold) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  maskText: route({
    method: 'POST',
    path: '/v1/organizations/me/sessions/{sessionId}/mask',
    auth: 'member',
    summary: 'Mask a text in a session for good, wherever it stands in it; or count where it stands',
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
      'Mask a text for good in all sessions that the caller may read, in the background; or count where it stands',
    body: MaskBody,
    replies: { 202: Envelope('run', MaskRun) },
    errors: [400, 401, 403, 429, 503],
  }),
  listMaskRuns: route({
    method: 'GET',
    path: '/v1/organizations/me/masks',
    auth: 'admin',
    summary: 'Show how far the texts are masked that the caller had masked in all sessions; the latest first',
    replies: { 200: Envelope('runs', Type.Array(MaskRun)) },
    errors: [401, 403, 429, 503],
  }),
  cancelMaskRun: route({
    method: 'DELETE',
    path: '/v1/organizations/me/masks/{runId}',
    auth: 'admin',
    summary:
      'Cancel masking a text in all sessions, which the caller has asked for; what is masked stays masked, and one that has ended stays as it is',
    replies: { 200: Envelope('run', MaskRun) },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  showEvidence: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/evidence',
    auth: 'member',
    summary: 'Show how far the service has the events of a session, as a chain under its signature',
    replies: { 200: Evidence },
    errors: [401, 403, 404, 429, 503],
  }),
  countersignSession: route({
    method: 'POST',
    path: '/v1/sessions/{sessionId}/evidence',
    auth: 'secret',
    summary:
      'Have the service sign how far it has a session of the calling machine, with the key that the machine signs with',
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
    summary: 'Show how many bytes and sessions the organization has of its quotas, and how fast they grow',
    replies: { 200: Storage },
    errors: [401, 403, 429, 503],
  }),
};
