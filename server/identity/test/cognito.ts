import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../public-url.ts';
import { ask, type PoolUser, startCognitoFront } from './cognito-front.ts';

const PROGRAM = fileURLToPath(import.meta.resolve('cognito-local/lib/bin/start.js'));
/** The password in the mail to an invited person. */
export const FIRST_PASSWORD = 'First-password-1';

export type Cognito = Awaited<ReturnType<typeof startCognito>>;

/**
 * The emulator with one user pool, set up as docs/identity.md describes, behind the front that adds what the emulator lacks.
 */
export async function startCognito(publicUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'capture-cognito-'));
  const port = await freePort('127.0.0.1');
  const { PATH } = process.env;
  const env = {
    PATH,
    HOST: '127.0.0.1',
    PORT: String(port),
    CODE: FIRST_PASSWORD,
    AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE: '1',
  };
  const child = spawn(process.execPath, [PROGRAM], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const output: string[] = [];
  const running = new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      output.push(line);
      if (line.includes('Cognito Local running')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`cognito-local ended with ${code}:\n${output.join('\n')}`)));
  });
  await running;
  const emulator = `http://127.0.0.1:${port}`;
  const call = <Answer>(target: string, input: object) => ask<Answer>(emulator, target, input);

  const { UserPool } = await call<{ UserPool: { Id: string } }>('CreateUserPool', {
    PoolName: 'people',
    UsernameAttributes: ['email'],
    Schema: [{ Name: 'organizationId', AttributeDataType: 'String', Mutable: true }],
  });
  const UserPoolId = UserPool.Id;
  const { UserPoolClient } = await call<{ UserPoolClient: { ClientId: string } }>('CreateUserPoolClient', {
    UserPoolId,
    ClientName: 'dashboard',
    CallbackURLs: [`${publicUrl}/signed-in`],
    LogoutURLs: [`${publicUrl}/`],
    ExplicitAuthFlows: ['ALLOW_USER_PASSWORD_AUTH'],
    IdTokenValidity: 60,
    AccessTokenValidity: 1,
  });
  const clientId = UserPoolClient.ClientId;
  const front = await startCognitoFront({ emulator, userPoolId: UserPoolId, logoutUris: [`${publicUrl}/`] });

  const { stop: closeFront } = front;
  const find = async (email: string) => {
    const user = await call<PoolUser>('AdminGetUser', { UserPoolId, Username: email });
    const attributes = user.UserAttributes.map(({ Name, Value }) => [Name, Value]);
    return { status: user.UserStatus, ...Object.fromEntries(attributes) } as Record<string, string>;
  };
  return Object.assign(front, {
    clientId,
    userPoolId: UserPoolId,
    variables: {
      IDENTITY_PROVIDER: 'cognito',
      COGNITO_USER_POOL_ID: UserPoolId,
      COGNITO_CLIENT_ID: clientId,
      COGNITO_DOMAIN: front.domain,
      COGNITO_ENDPOINT: front.endpoint,
    },
    /** Creates an account that is already in use. */
    async createPerson(email: string, password: string): Promise<void> {
      const attributes = { email, email_verified: 'true' };
      const UserAttributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }));
      await call('AdminCreateUser', { UserPoolId, Username: email, UserAttributes, MessageAction: 'SUPPRESS' });
      await call('AdminSetUserPassword', { UserPoolId, Username: email, Password: password, Permanent: true });
    },
    /** The pool's data of a person. */
    find,
    setPassword: (email: string, password: string) =>
      call('AdminSetUserPassword', { UserPoolId, Username: email, Password: password, Permanent: true }),
    /** Signs in without the pages. */
    async signIn(email: string, password: string) {
      const AuthParameters = { USERNAME: email, PASSWORD: password };
      const input = { AuthFlow: 'USER_PASSWORD_AUTH', ClientId: clientId, AuthParameters };
      type Answer = { AuthenticationResult: { IdToken: string; AccessToken: string } };
      return (await ask<Answer>(front.endpoint, 'InitiateAuth', input)).AuthenticationResult;
    },
    /** How many mails with a first password the emulator wrote. */
    mails: () => output.filter((line) => line.includes('Confirmation Code Delivery')).length,
    async stop() {
      await closeFront();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  });
}
