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

/** What is asked of a user pool of Amazon Cognito beyond signing in. Each takes five seconds at most. */
export interface UserPool {
  /**
   * Sets one attribute of a person.
   * @throws Error when the pool refuses, or does not answer in time
   */
  setAttribute(username: string, name: string, value: string): Promise<void>;
  /**
   * Creates an account with the e-mail, to which the pool mails a first password; repeats the mail to whoever has not
   * used it yet.
   * @returns false when the person has an account in use, and was sent nothing
   * @throws Error when the pool refuses, or does not answer in time
   */
  createAccount(email: string): Promise<boolean>;
}

/** For all requests of a call with their repetitions, and for finding the credentials: somebody waits for the answer. */
const TIMEOUT_MS = 5_000;
/** Half of it, so that a connection on which nothing comes back leaves time for another. */
const ATTEMPT_MS = 2_000;

/** A user pool, asked with Amazon's own client, which finds the credentials wherever its users keep them. */
export function createUserPool({ id: UserPoolId, region, endpoint }: UserPoolOptions): UserPool {
  const settings: CognitoIdentityProviderClientConfig = {
    region,
    maxAttempts: 2,
    requestHandler: { connectionTimeout: ATTEMPT_MS, requestTimeout: ATTEMPT_MS, throwOnRequestTimeout: true },
    ...(endpoint !== undefined && { endpoint }),
    // Amazon is never asked without encryption; an emulator asks for no credentials.
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
      // The first password goes to this e-mail alone, so whoever signs in with it has proven it.
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

/** Loaded with the first request: the client is as much memory as the rest of the service's start. */
async function connect(settings: CognitoIdentityProviderClientConfig) {
  const { CognitoIdentityProviderClient, AdminCreateUserCommand, AdminUpdateUserAttributesCommand } = await import(
    '@aws-sdk/client-cognito-identity-provider'
  );
  const client = new CognitoIdentityProviderClient(settings);
  return { client, AdminCreateUserCommand, AdminUpdateUserAttributesCommand };
}

/** The client's own limits do not cover the search for credentials. */
async function inTime<Result>(ask: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  return Promise.race([ask(signal), late]);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;
