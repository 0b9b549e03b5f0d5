import { type User, UserManager, WebStorageStateStore } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { paths } from './paths.ts';
import { cognitoSignOut, isOutage, knownMetadata, ProviderAway, scopeFor } from './provider.ts';

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

/** Seconds before its end at which a token is renewed. */
const MARGIN = 60;
/** Seconds in which the provider has to answer; without an end the page would stay blank. */
const PATIENCE = 10;
const SIGNED_OUT = 'signed-out';
const CLOCK_AHEAD = 'clock-ahead';

export async function createAuth(): Promise<Auth> {
  const config = await readConfig();
  const { origin } = window.location;
  const home = origin + paths.home();
  const metadata = knownMetadata(config);
  const manager = new UserManager({
    authority: config.idpDomain,
    ...(metadata && { metadata }),
    client_id: config.idpClientId,
    redirect_uri: origin + paths.signedIn(),
    post_logout_redirect_uri: home,
    requestTimeoutInSeconds: PATIENCE,
    // For this tab only: a reload keeps the person signed in, a closed tab forgets them.
    userStore: new WebStorageStateStore({ store: window.sessionStorage }),
    automaticSilentRenew: false,
    loadUserInfo: false,
  });

  let renewing: Promise<string> | undefined;

  async function signIn(returnTo: string): Promise<never> {
    // Whoever is sent to a service that is away is at an error page of the browser, and what was open is gone.
    if (!(await isAnswering())) throw new TypeError('The service does not answer.');
    const provider = await manager.metadataService.getMetadata().catch((error) => {
      throw new ProviderAway(error);
    });
    await manager.signinRedirect({ state: returnTo, scope: scopeFor(provider) });
    return new Promise<never>(() => {});
  }

  async function renewOnce(): Promise<string> {
    const user = await manager.getUser();
    // Without a refresh token the library would try an iframe, which the page's policy forbids.
    const renewed = user?.refresh_token ? await manager.signinSilent().catch(unlessOutage) : null;
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
      const user = await manager.getUser();
      if (user?.id_token && secondsLeft(user) > MARGIN) return user.id_token;
      return renew();
    },
    renew,
    signIn,
    async finishSignIn() {
      const user = await manager.signinRedirectCallback().catch((error) => {
        throw isOutage(error) ? new ProviderAway(error) : error;
      });
      noteClock(user);
      return typeof user.state === 'string' && /^\/(?!\/)/.test(user.state) ? user.state : paths.home();
    },
    async signOut() {
      window.sessionStorage.setItem(SIGNED_OUT, 'yes');
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

/** Only who is refused has to sign in again; while nobody answers, the person stays where they are. */
async function unlessOutage(error: unknown): Promise<null> {
  if (!(await isAnswering())) throw error;
  if (isOutage(error)) throw new ProviderAway(error);
  return null;
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
const secondsSince = ({ profile }: User): number =>
  Date.now() / 1000 - Number(window.sessionStorage.getItem(CLOCK_AHEAD)) - profile.iat;

const isNew = (user: User): boolean => secondsSince(user) < MARGIN && secondsLeft(user) > MARGIN;

/** The bearer is the ID token, so its own end counts, not the access token's. */
const secondsLeft = (user: User): number => user.profile.exp - user.profile.iat - secondsSince(user);

async function readConfig(): Promise<BootstrapConfig> {
  const response = await fetch('/config');
  if (!response.ok) throw new Error('The service does not answer. It may be starting.');
  return (await response.json()) as BootstrapConfig;
}
