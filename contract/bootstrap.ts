import { type Static, Type } from 'typebox';

export const Health = Type.Object({ status: Type.String(), version: Type.String(), service: Type.String() });
export type Health = Static<typeof Health>;

/** Tells the browser where to sign in. */
export const BootstrapConfig = Type.Object({
  idpUserPoolId: Type.String(),
  idpClientId: Type.String(),
  apiUrl: Type.String(),
  idpRegion: Type.String(),
  idpDomain: Type.String({ description: "the identity provider's issuer or domain" }),
});
export type BootstrapConfig = Static<typeof BootstrapConfig>;
