import type { User } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { paths } from './paths.ts';

/** Signing in, and the token that proves it. */
export interface Auth {
  /** The bearer token, renewed when it is about to expire. Without one, the browser is sent to sign in. */
  token(): Promise<string>;
  /** Gets a new token, because the service did not take the last one. */
  renew(): Promise<string>;
  signIn(returnTo: string): Promise<never>;
  /** Completes the visit to the identity provider. @returns where the person wanted to go */
  finishSignIn(): Promise<string>;
  signOut(): Promise<void>;
}

/** The identity provider does not answer, or not as one does. */
export class ProviderAway extends Error {
  constructor(cause: unknown) {
    super('The identity provider does not answer.', { cause });
    this.name = 'ProviderAway';
  }
}

/** Seconds before its end at which a token is renewed. */
const MARGIN = 60;
const SIGNED_OUT = 'signed-out';
const CLOCK_AHEAD = 'clock-ahead';

export async function createAuth(): Promise<Auth> {
  const config = await readConfig();
  // A seventh of all code, which a person who is signed in does not need until the token ends.
  let loading: Promise<ReturnType<typeof import('./provider.ts').createProvider>> | undefined;
  const loadProvider = () => {
    loading ??= import('./provider.ts').then(({ createProvider }) => createProvider(config));
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };

  let renewing: Promise<string> | undefined;

  async function signIn(returnTo: string): Promise<never> {
    // Whoever is sent to a service that is away is at an error page of the browser, and what was open is gone.
    if (!(await isAnswering())) throw new TypeError('The service does not answer.');
    const { manager, scopeFor } = await loadProvider();
    const provider = await manager.metadataService.getMetadata().catch((error) => {
      throw new ProviderAway(error);
    });
    await manager.signinRedirect({ state: returnTo, scope: scopeFor(provider) });
    return new Promise<never>(() => {});
  }

  async function renewOnce(): Promise<string> {
    const { manager, isOutage } = await loadProvider();
    const user = await manager.getUser();
    // Without a refresh token the library would try an iframe, which the page's policy forbids.
    const renewed = user?.refresh_token
      ? await manager.signinSilent().catch(async (error) => {
          // Only who is refused has to sign in again; while nobody answers, the person stays where they are.
          if (!(await isAnswering())) throw error;
          if (isOutage(error)) throw new ProviderAway(error);
          return null;
        })
      : null;
    if (renewed?.id_token && renewed.id_token !== user?.id_token) {
      noteClock(renewed);
      return renewed.id_token;
    }
    // Sent to sign in again, the person would come back at once, with the same.
    if (user && !user.refresh_token && isNew(user)) throw new Error(REFUSED);
    await manager.removeUser();
    return signIn(currentAddress());
  }

  function renew(): Promise<string> {
    renewing ??= renewOnce().finally(() => {
      renewing = undefined;
    });
    return renewing;
  }

  return {
    async token() {
      const user = readStored(config);
      if (user?.id_token && secondsLeft(user) > MARGIN) return user.id_token;
      return renew();
    },
    renew,
    signIn,
    async finishSignIn() {
      const { manager, isOutage } = await loadProvider();
      const user = await manager.signinRedirectCallback().catch((error) => {
        throw isOutage(error) ? new ProviderAway(error) : error;
      });
      noteClock(user);
      return typeof user.state === 'string' && /^\/(?!\/)/.test(user.state) ? user.state : paths.home();
    },
    async signOut() {
      const { manager, cognitoSignOut } = await loadProvider();
      window.sessionStorage.setItem(SIGNED_OUT, 'yes');
      const home = window.location.origin + paths.home();
      const endpoint = await manager.metadataService.getEndSessionEndpoint().catch(() => undefined);
      const address = endpoint === undefined ? home : cognitoSignOut(config, endpoint, home);
      if (address === undefined) return manager.signoutRedirect();
      await manager.removeUser();
      window.location.assign(address);
    },
  };
}

const REFUSED =
  'You have just signed in, and the service does not take it. Its clock or its settings are wrong: ask whoever runs it.';

type Stored = Pick<User, 'id_token' | 'profile'>;

/** The signed-in person, from where the library keeps them. */
function readStored({ idpDomain, idpClientId }: BootstrapConfig): Stored | undefined {
  const text = window.sessionStorage.getItem(`oidc.user:${idpDomain}:${idpClientId}`);
  return text === null ? undefined : (JSON.parse(text) as Stored);
}

/** Whether the service is there. */
export const isAnswering = (): Promise<boolean> =>
  fetch('/config').then(
    ({ ok }) => ok,
    () => false,
  );

/** Whether the person has just signed out, so that they are not signed in again at once. Told once. */
export function justSignedOut(): boolean {
  const found = window.sessionStorage.getItem(SIGNED_OUT) !== null;
  window.sessionStorage.removeItem(SIGNED_OUT);
  return found;
}

export const currentAddress = (): string => window.location.pathname + window.location.search;

/** How far this machine's clock is ahead of the provider's, told by a token that was made a moment ago. */
const noteClock = ({ profile }: User): void =>
  window.sessionStorage.setItem(CLOCK_AHEAD, String(Date.now() / 1000 - profile.iat));

/** Seconds since the token was made, whatever this machine's clock says. */
const secondsSince = ({ profile }: Stored): number =>
  Date.now() / 1000 - Number(window.sessionStorage.getItem(CLOCK_AHEAD)) - profile.iat;

const isNew = (user: Stored): boolean => secondsSince(user) < MARGIN && secondsLeft(user) > MARGIN;

/** The bearer is the ID token, so its own end counts, not the access token's. */
const secondsLeft = (user: Stored): number => user.profile.exp - user.profile.iat - secondsSince(user);

async function readConfig(): Promise<BootstrapConfig> {
  const response = await fetch('/config');
  if (!response.ok) throw new Error('The service does not answer. It may be starting.');
  return (await response.json()) as BootstrapConfig;
}
