import {
  CollectedReading,
  CollectedSecret,
  CollectSecretBody,
  DecideDeviceBody,
  DeviceQuery,
  DeviceSignIn,
  StartDeviceBody,
  StartedDevice,
} from './device.ts';
import { route } from './route.ts';

/** The routes by which a machine signs in, and a person confirms it. */
export const DEVICE_ROUTES = {
  startDeviceSignIn: route({
    method: 'POST',
    path: '/v1/device-sign-ins',
    auth: 'public',
    summary: 'Start to sign a machine in; a person confirms it in the dashboard',
    body: StartDeviceBody,
    limit: 'device',
    replies: { 201: StartedDevice },
    errors: [400, 429, 503],
  }),
  collectDeviceSecret: route({
    method: 'POST',
    path: '/v1/device-sign-ins/secret',
    auth: 'public',
    summary:
      'Collect the secret of a confirmed sign-in; repeating it within a minute returns the same secret; 400 with a code of RFC 8628 until then',
    body: CollectSecretBody,
    limit: 'waiting',
    replies: { 200: CollectedSecret },
    errors: [400, 429, 503],
  }),
  collectReadingToken: route({
    method: 'POST',
    path: '/v1/device-sign-ins/reading',
    auth: 'public',
    summary:
      'Collect the token of a confirmed sign-in for reading. For 15 minutes, it reads the events of sessions as the person who confirmed it',
    body: CollectSecretBody,
    limit: 'waiting',
    replies: { 200: CollectedReading },
    errors: [400, 429, 503],
  }),
  getDeviceSignIn: route({
    method: 'GET',
    path: '/v1/organizations/me/device-sign-in',
    auth: 'member',
    summary: 'Show which machine waits for sign-in with a code',
    query: DeviceQuery,
    replies: { 200: DeviceSignIn },
    errors: [400, 401, 403, 404, 429, 503],
  }),
  decideDeviceSignIn: route({
    method: 'POST',
    path: '/v1/organizations/me/device-sign-in',
    auth: 'member',
    summary:
      'Confirm the sign-in of a machine, which issues a secret to it, or refuse it; the policy may require an admin',
    body: DecideDeviceBody,
    replies: { 200: DeviceSignIn },
    errors: [400, 401, 403, 404, 409, 429, 503],
  }),
};
