import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { type Static, Type } from 'typebox';

/** A signed statement: DSSE v1 (secure-systems-lab/dsse), with one Ed25519 signature. */
export const Envelope = Type.Object({
  payloadType: Type.String(),
  payload: Type.String({ description: 'base64 of the signed bytes' }),
  signatures: Type.Array(
    Type.Object({
      keyid: Type.String({ description: 'base64 of the public key (SPKI, DER)' }),
      sig: Type.String({ description: 'base64 of the Ed25519 signature' }),
    }),
  ),
});
export type Envelope = Static<typeof Envelope>;

/** The signed bytes. The type is part of them, so a signed statement cannot pass for one of another type. */
function encodePair(payloadType: string, payload: Uint8Array): Buffer {
  const type = Buffer.from(payloadType);
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} `), type, Buffer.from(` ${payload.length} `), payload]);
}

/**
 * A short form of a public key: base64 of SPKI in DER.
 * @param key private or public
 */
export const keyIdOf = (key: KeyObject): string =>
  (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }).toString('base64');

/** @param keyid the id of the key, if the caller knows it: computing it takes as long as signing */
export function signStatement(payloadType: string, statement: object, key: KeyObject, keyid = keyIdOf(key)): Envelope {
  const payload = Buffer.from(JSON.stringify(statement));
  const sig = sign(null, encodePair(payloadType, payload), key).toString('base64');
  return { payloadType, payload: payload.toString('base64'), signatures: [{ keyid, sig }] };
}

/**
 * The statement of an envelope, and the key that signed it. The caller must know whose key it is.
 * @throws if the signature does not match, the envelope is of another type, or it contains no JSON object
 */
export function openEnvelope(envelope: Envelope, payloadType: string): { statement: object; keyid: string } {
  const { payload, signatures } = envelope;
  const [signature] = signatures;
  if (envelope.payloadType !== payloadType) throw new Error(`it is no ${payloadType}`);
  if (signature === undefined || signatures.length !== 1) throw new Error('it needs exactly one signature');
  const bytes = Buffer.from(payload, 'base64');
  if (!isSigned(encodePair(payloadType, bytes), signature)) throw new Error('its signature does not fit');
  const statement: unknown = JSON.parse(bytes.toString('utf8'));
  if (typeof statement !== 'object' || statement === null) throw new Error('it contains no statement');
  return { statement, keyid: signature.keyid };
}

function isSigned(bytes: Buffer, { keyid, sig }: Envelope['signatures'][number]): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(keyid, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyType === 'ed25519' && verify(null, bytes, key, Buffer.from(sig, 'base64'));
  } catch {
    return false;
  }
}

/** The bytes before the 32 bytes of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The private key from 32 secret bytes. */
export const ed25519Of = (seed: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
