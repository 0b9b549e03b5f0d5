import { QueryClient } from '@tanstack/react-query';
import { type Client, createClient, ServiceError } from '../../contract/client.ts';
import { basePath } from '../kit/base-path.ts';
import { MissingCode } from '../kit/lazy.tsx';
import { type Auth, ProviderAway } from './auth.ts';

/** The typed client with the person's token; a refused token is renewed once. */
export function createApi(auth: Auth): Client {
  return createClient({ baseUrl: basePath(), fetch: createAuthorizedFetch(auth) });
}

export function createAuthorizedFetch(auth: Auth): typeof fetch {
  const attempt = (input: RequestInfo | URL, init: RequestInit | undefined, token: string) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    const response = await attempt(input, init, await auth.token());
    return response.status === 401 ? attempt(input, init, await auth.renew()) : response;
  };
}

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        // Offline, a request fails and reports it; by default it would wait silently.
        networkMode: 'always',
        refetchOnWindowFocus: true,
        retry: (count, error) => count < 3 && isPassing(error),
        retryDelay: (count, error) =>
          error instanceof ServiceError && error.retryAfter ? error.retryAfter * 1000 : 500 * 2 ** count,
      },
    },
  });
}

/** Errors that may pass by themselves, so that a retry makes sense. */
const isPassing = (error: unknown): boolean =>
  !(error instanceof ServiceError) || error.status === 429 || error.status >= 502;

/** An error in words: what happened, and what to do. All pages take their error texts from here. */
export interface WordedError {
  title: string;
  advice: string;
  /** The error code and the request id, for the person who helps. */
  small?: string;
  /** Another attempt would fail in the same way. */
  isFinal?: boolean;
}

export function wordError(error: unknown): WordedError {
  if (error instanceof ServiceError) {
    const small = [error.code ?? `status ${error.status}`, error.requestId && `request ${error.requestId}`]
      .filter(Boolean)
      .join(' · ');
    return { ...withoutRepetition(wordServiceError(error)), small, isFinal: error.status === 410 };
  }
  if (error instanceof MissingCode) {
    return {
      title: 'This page could not be loaded',
      advice: 'The service is unreachable or was just upgraded. Retrying…',
    };
  }
  if (error instanceof ProviderAway) {
    return {
      title: 'The identity provider does not answer',
      advice: 'You need it to sign in. Machines still capture sessions. Try again in a moment.',
    };
  }
  if (error instanceof TypeError) {
    return {
      title: 'The service cannot be reached',
      advice: 'Nothing is lost: machines keep captured events until it answers. Check your connection.',
    };
  }
  return { title: 'Something went wrong', advice: error instanceof Error ? error.message : String(error) };
}

/** A message of the service may begin with the words of the title. */
function withoutRepetition({ title, advice }: WordedError): WordedError {
  return { title, advice: advice.startsWith(`${title}. `) ? advice.slice(title.length + 2) : advice };
}

function wordServiceError({ status, code, message }: ServiceError): WordedError {
  if (code === 'held') return { title: 'A legal hold keeps this', advice: message };
  if (code === 'content_withheld') return { title: 'The content of this session cannot be read', advice: message };
  if (code === 'last_owner') return { title: 'The last owner has to stay', advice: message };
  if (status === 403) return { title: 'Not allowed', advice: message };
  if (status === 404) return { title: 'Not found', advice: message };
  if (status === 410) return { title: 'This share has ended', advice: message };
  if (status === 409) return { title: 'Already done', advice: message };
  if (status === 429) return { title: 'Too many requests', advice: 'Wait a moment, then try again.' };
  if (status === 502) return { title: 'The identity provider did not answer', advice: message };
  if (status >= 500) {
    return {
      title: 'The service is not available',
      advice: 'Stored sessions are safe. Wait a moment, then try again.',
    };
  }
  return { title: 'The service refused this', advice: message };
}
