import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export interface Issuer {
  url: string;
  /** Configuration of a service that trusts this issuer. */
  env: Record<string, string>;
  token(subject: string, email: string): Promise<string>;
  close(): void;
}

/** An OpenID issuer on loopback with only the parts that the service needs: it publishes its key and signs tokens. */
export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'ES256', use: 'sig' }] };
  const server = createServer((request, response) => {
    const metadata = { issuer, jwks_uri: `${issuer}/jwks`, authorization_endpoint: issuer, token_endpoint: issuer };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(request.url === '/jwks' ? jwks : metadata));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return {
    url: issuer,
    env: { IDENTITY_PROVIDER: 'oidc', OIDC_ISSUER: issuer, OIDC_CLIENT_ID: 'bench' },
    token: (subject, email) =>
      new SignJWT({ email, email_verified: true })
        .setProtectedHeader({ alg: 'ES256', kid: 'bench' })
        .setIssuer(issuer)
        .setAudience('bench')
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey),
    close: () => server.close(),
  };
}
