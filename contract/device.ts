import { type Static, Type } from 'typebox';
import { Body, Id, OneOf, Text, Timestamp, VisibleText } from './common.ts';
import { PLATFORMS } from './environment.ts';
import { PLANES, Secret } from './secret.ts';

/** Shapes of RFC 8628, OAuth 2.0 Device Authorization Grant: a machine signs in, and a person confirms it elsewhere. */

/** Seconds that a sign-in waits for its person. */
export const DEVICE_EXPIRES_IN = 600;
/** Seconds between two polls of a waiting machine. */
export const DEVICE_INTERVAL = 3;

/** How long a machine may read after a person confirmed a sign-in for reading, in seconds. */
export const READING_EXPIRES_IN = 900;

/**
 * What a machine signs in for: a secret of its own, with which it sends sessions; or reading sessions for a while, as the person
 * who confirms it.
 */
export const DEVICE_PURPOSES = ['capture', 'reading'] as const;
export type DevicePurpose = (typeof DEVICE_PURPOSES)[number];

/** The machine's description of itself, so that the person recognizes it. */
export const StartDeviceBody = Body({
  hostname: VisibleText(255),
  platform: OneOf(PLATFORMS),
  serviceCliVersion: VisibleText(64),
  purpose: Type.Optional(OneOf(DEVICE_PURPOSES)),
});

export const StartedDevice = Type.Object({
  deviceCode: Type.String({ description: 'for the machine only: whoever has it receives the secret' }),
  userCode: Type.String({ description: 'for the person: `ABCD-EFGH`' }),
  verificationUri: Type.String({ description: 'page at which a person enters the code; `?code=` fills it in' }),
  expiresIn: Type.Integer({ description: 'seconds' }),
  interval: Type.Integer({ description: 'seconds to wait between two polls' }),
});
export type StartedDevice = Static<typeof StartedDevice>;

export const CollectSecretBody = Body({ deviceCode: Text(128) });

/** Sent to the holder of the device code. The holder may repeat the request for a minute in case the answer was lost. */
export const CollectedSecret = Type.Object({
  secretId: Id('sec'),
  secret: Secret,
  value: Type.String(),
  organizationName: Type.String(),
});
export type CollectedSecret = Static<typeof CollectedSecret>;

/** Sent to the holder of the device code of a sign-in for reading. */
export const CollectedReading = Type.Object({
  token: Type.String({ description: 'a bearer token for reading the events of sessions' }),
  expiresIn: Type.Integer({ description: 'seconds' }),
  organizationName: Type.String(),
});
export type CollectedReading = Static<typeof CollectedReading>;

const UserCode = Type.String({ minLength: 1, maxLength: 32, description: 'in any case, with or without its hyphen' });

export const DeviceQuery = Type.Object({ userCode: UserCode });

export const DecideDeviceBody = Body({
  userCode: UserCode,
  decision: OneOf(['approve', 'deny']),
  secretEnvironment: Type.Optional(OneOf(PLANES)),
});

/**
 * A sign-in in the form that the confirming person sees. Everything but the address and the times is the machine's own claim.
 */
export const DeviceSignIn = Type.Object({
  hostname: Type.String(),
  platform: OneOf(PLATFORMS),
  serviceCliVersion: Type.String(),
  address: Type.String({ description: 'network address that started the sign-in' }),
  purpose: OneOf(DEVICE_PURPOSES),
  status: OneOf(['pending', 'approved', 'denied', 'issued']),
  createdAt: Timestamp,
  expiresAt: Timestamp,
});
export type DeviceSignIn = Static<typeof DeviceSignIn>;
