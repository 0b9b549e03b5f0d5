import type { User } from 'oidc-client-ts';
import type { BootstrapConfig } from '../../contract/bootstrap.ts';
import { paths } from '../../contract/pages.ts';
import { hrefOf, serviceAddress, storageName } from '../kit/base-path.ts';
import { type End, findEnd, noteSignIn, noteSignOut, watchTabs } from './tabs.ts';

/** Signing in, and the token that proves it. */
export interface Auth {
  /** The bearer token, renewed when it is about to expire. Without a token, redirects the browser to the sign-in. */
  token(): Promise<string>;
  /** Gets a new token, because the service refused the last one. */
  renew(): Promise<string>;
  signIn(returnTo: string): Promise<never>;
  /** Completes the sign-in at the identity provider. @returns the address that the person wanted to open */
  finishSignIn(): Promise<string>;
  /** Signs the person out, in all tabs of this browser. */
  signOut(): Promise<void>;
  /** Calls the listener as soon as another tab has ended this sign-in. From then on, no token is given out. */
  onEnd(listener: (end: End) => void): void;
}

/** The identity provider does not answer, or its answer is invalid. */
export class ProviderAway extends Error {
  constructor(cause: unknown) {
    super('The identity provider does not answer.', { cause });
    this.name = 'ProviderAway';
  }
}

/** A token is renewed this many seconds before it expires. */
const MARGIN = 60;
const SIGNED_OUT = 'signed-out';
const CLOCK_AHEAD = 'clock-ahead';

export async function createAuth(): Promise<Auth> {
  const config = await readConfig();
  // A browser that opens a closed tab again brings its token back, although the person has signed out meanwhile.
  const restored = readStored(config);
  if (restored && findEnd(restored.profile.sub) !== undefined) forget(config);
  // Loaded on demand: this is a seventh of all code, and a signed-in person does not need it until the token expires.
  let loading: Promise<ReturnType<typeof import('./provider.ts').createProvider>> | undefined;
  const loadProvider = () => {
    loading ??= import('./provider.ts').then(({ createProvider }) => createProvider(config));
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };

  let renewing: Promise<string> | undefined;
  let isEnded = false;

  async function signIn(returnTo: string): Promise<never> {
    // A redirect to an unreachable service would replace the open page by an error page of the browser.
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
    // Without a refresh token, the library would try an iframe, which the page's content security policy forbids.
    const renewed = user?.refresh_token
      ? await manager.signinSilent().catch(async (error) => {
          // Only a refused person has to sign in again; during an outage, the person stays on the page.
          if (!(await isAnswering())) throw error;
          if (isOutage(error)) throw new ProviderAway(error);
          return null;
        })
      : null;
    if (renewed?.id_token && renewed.id_token !== user?.id_token) {
      noteClock(renewed);
      return renewed.id_token;
    }
    // Another sign-in would return at once with an equal token.
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
      if (isEnded) return new Promise<never>(() => {});
      const user = readStored(config);
      if (user?.id_token && secondsLeft(user) > MARGIN) return user.id_token;
      return renew();
    },
    renew: () => (isEnded ? new Promise<never>(() => {}) : renew()),
    signIn,
    async finishSignIn() {
      const { manager, isOutage } = await loadProvider();
      const user = await manager.signinRedirectCallback().catch((error) => {
        throw isOutage(error) ? new ProviderAway(error) : error;
      });
      noteClock(user);
      noteSignIn(user.profile.sub);
      return typeof user.state === 'string' && /^\/(?!\/)/.test(user.state) ? user.state : hrefOf(paths.home());
    },
    async signOut() {
      const { manager, cognitoSignOut } = await loadProvider();
      window.sessionStorage.setItem(storageName(SIGNED_OUT), 'yes');
      const home = serviceAddress() + paths.home();
      const endpoint = await manager.metadataService.getEndSessionEndpoint().catch(() => undefined);
      const address = endpoint === undefined ? home : cognitoSignOut(config, endpoint, home);
      isEnded = true;
      noteSignOut();
      if (address === undefined) return manager.signoutRedirect();
      await manager.removeUser();
      window.location.assign(address);
    },
    onEnd(listener) {
      const { profile } = readStored(config) ?? {};
      if (!profile) return;
      watchTabs(profile.sub, (end) => {
        if (end !== 'left') {
          isEnded = true;
          forget(config);
        }
        listener(end);
      });
    },
  };
}

const REFUSED =
  'You have just signed in, but the service refused it. Its clock or its settings are wrong: ask its operator.';

type Stored = Pick<User, 'id_token' | 'profile'>;

const nameOf = ({ idpDomain, idpClientId }: BootstrapConfig) => storageName(`oidc.user:${idpDomain}:${idpClientId}`);
const forget = (config: BootstrapConfig) => window.sessionStorage.removeItem(nameOf(config));

/** The signed-in person, read from the library's storage. */
function readStored(config: BootstrapConfig): Stored | undefined {
  const text = window.sessionStorage.getItem(nameOf(config));
  return text === null ? undefined : (JSON.parse(text) as Stored);
}

/** Whether the service answers. */
export const isAnswering = (): Promise<boolean> =>
  fetch(hrefOf('/config')).then(
    ({ ok }) => ok,
    () => false,
  );

/** Whether the person has just signed out, so that they are not signed in again at once. Only the first call returns true. */
export function justSignedOut(): boolean {
  const found = window.sessionStorage.getItem(storageName(SIGNED_OUT)) !== null;
  window.sessionStorage.removeItem(storageName(SIGNED_OUT));
  return found;
}

export const currentAddress = (): string => window.location.pathname + window.location.search;

/** Stores by how much this machine's clock is ahead of the provider's, measured with a new token. */
const noteClock = ({ profile }: User): void =>
  window.sessionStorage.setItem(storageName(CLOCK_AHEAD), String(Date.now() / 1000 - profile.iat));

/** Seconds since the token was issued, corrected for this machine's clock. */
const secondsSince = ({ profile }: Stored): number =>
  Date.now() / 1000 - Number(window.sessionStorage.getItem(storageName(CLOCK_AHEAD))) - profile.iat;

const isNew = (user: Stored): boolean => secondsSince(user) < MARGIN && secondsLeft(user) > MARGIN;

/** The bearer is the ID token, so its own expiry counts, not the access token's. */
const secondsLeft = (user: Stored): number => user.profile.exp - user.profile.iat - secondsSince(user);

async function readConfig(): Promise<BootstrapConfig> {
  const response = await fetch(hrefOf('/config'));
  if (!response.ok) throw new Error('The service does not answer. It may be starting.');
  return (await response.json()) as BootstrapConfig;
}
