import { Type } from 'typebox';
import { Envelope } from './common.ts';
import { EventPage } from './event.ts';
import { route } from './route.ts';
import { CreatedShare, Share, ShareBody, SharedSession, ShareEventQuery } from './share.ts';

/** Sharing sessions with others by a token. */
export const SHARE_ROUTES = {
  createShare: route({
    method: 'POST',
    path: '/v1/organizations/me/sessions/{sessionId}/shares',
    auth: 'member',
    summary: 'Share a session, or a range of it, with a member, the organization or anybody who has the link',
    body: ShareBody,
    replies: { 201: CreatedShare },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  listShares: route({
    method: 'GET',
    path: '/v1/organizations/me/sessions/{sessionId}/shares',
    auth: 'member',
    summary: 'List the shares of a session: its person and admins see all of them, others see their own',
    replies: { 200: Envelope('shares', Type.Array(Share)) },
    errors: [401, 403, 404, 429, 503],
  }),
  revokeShare: route({
    method: 'DELETE',
    path: '/v1/organizations/me/sessions/{sessionId}/shares/{shareId}',
    auth: 'member',
    summary:
      'Revoke a share, as its creator, as the person of the session, or as an admin; repeating it changes nothing',
    replies: { 204: Type.Void() },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  getShare: route({
    method: 'GET',
    path: '/v1/shares/{token}',
    auth: 'visitor',
    summary: 'Show what a share contains, as far as its creator may see it now',
    replies: { 200: SharedSession },
    errors: [401, 404, 410, 429, 503],
  }),
  listSharedEvents: route({
    method: 'GET',
    path: '/v1/shares/{token}/events',
    auth: 'visitor',
    summary: 'Read the events of a share: whole, or in outline without the fields of outputs',
    query: ShareEventQuery,
    replies: { 200: EventPage },
    errors: [400, 401, 403, 404, 410, 429, 503],
  }),
};
