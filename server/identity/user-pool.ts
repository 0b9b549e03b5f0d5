import type {
  AdminCreateUserCommandInput,
  CognitoIdentityProviderClientConfig,
} from '@aws-sdk/client-cognito-identity-provider';

export interface UserPoolOptions {
  id: string;
  region: string;
  /** Address of the API where it is not Amazon's own, such as that of an emulator. */
  endpoint?: string | undefined;
}

/** The API calls to a user pool of Amazon Cognito. Each takes five seconds at most. */
export interface UserPool {
  /**
   * Sets one attribute of a person.
   * @throws Error when the pool refuses, or does not answer in time
   */
  setAttribute(username: string, name: string, value: string): Promise<void>;
  /**
   * Creates an account with the e-mail, to which the pool mails a first password. Mails it again if the person has not
   * used it yet.
   * @returns false when the person uses an account already; then nothing was mailed
   * @throws Error when the pool refuses, or does not answer in time
   */
  createAccount(email: string): Promise<boolean>;
}

/** Limit for one call with all its retries and for finding credentials: somebody waits for the answer. */
const TIMEOUT_MS = 5_000;
/** Limit for one attempt, so that a silent connection leaves time for a second one. */
const ATTEMPT_MS = 2_000;

/** A user pool, called with Amazon's client, which finds credentials in all the usual places. */
export function createUserPool({ id: UserPoolId, region, endpoint }: UserPoolOptions): UserPool {
  const settings: CognitoIdentityProviderClientConfig = {
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: ATTEMPT_MS, requestTimeout: ATTEMPT_MS, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    // Amazon is only called over https; an emulator accepts any credentials.
    ...(endpoint?.startsWith('http:') && { credentials: { accessKeyId: 'emulator', secretAccessKey: 'emulator' } }),
  };
  let connecting: ReturnType<typeof connect> | undefined;
  const connected = () => {
    connecting ??= connect(settings);
    return connecting;
  };

  return {
    async setAttribute(Username, Name, Value) {
      const { client, AdminUpdateUserAttributesCommand } = await connected();
      const input = { UserPoolId, Username, UserAttributes: [{ Name, Value }] };
      await inTime((abortSignal) => client.send(new AdminUpdateUserAttributesCommand(input), { abortSignal }));
    },

    async createAccount(email) {
      const { client, AdminCreateUserCommand } = await connected();
      // The first password is mailed to this address alone, so signing in with it proves the e-mail.
      const attributes = { email, email_verified: 'true' };
      const UserAttributes = Object.entries(attributes).map(([Name, Value]) => ({ Name, Value }));
      const create = (rest: Partial<AdminCreateUserCommandInput>, abortSignal: AbortSignal) => {
        const input = { UserPoolId, Username: email, DesiredDeliveryMediums: ['EMAIL' as const], ...rest };
        return client.send(new AdminCreateUserCommand(input), { abortSignal });
      };
      try {
        await inTime((signal) =>
          create({ UserAttributes }, signal).catch((error) => {
            if (!isNamed(error, 'UsernameExistsException')) throw error;
            return create({ MessageAction: 'RESEND' }, signal);
          }),
        );
        return true;
      } catch (error) {
        if (isNamed(error, 'UnsupportedUserStateException')) return false;
        throw error;
      }
    },
  };
}

/** Loaded with the first call: the client takes as much memory as the rest of the service at its start. */
async function connect(settings: CognitoIdentityProviderClientConfig) {
  const { CognitoIdentityProviderClient, AdminCreateUserCommand, AdminUpdateUserAttributesCommand } = await import(
    '@aws-sdk/client-cognito-identity-provider'
  );
  const client = new CognitoIdentityProviderClient(settings);
  return { client, AdminCreateUserCommand, AdminUpdateUserAttributesCommand };
}

/** The limits of Amazon's client do not cover the search for credentials. */
async function inTime<Result>(ask: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([ask(signal), late]);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
