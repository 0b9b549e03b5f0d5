import { readLocal, writeLocal } from '../kit/local-storage.ts';

/** Why a tab must not show anything of its person any more. */
export type End = 'signed out' | 'another person' | 'left';

/**
 * Whose tabs this browser may show. Each tab has a token of its own, so the browser stores what the tabs have to agree on.
 * It is a state and no message, because a tab that was frozen or closed reads it when it is back.
 */
interface Agreed {
  /** The identity provider's id of the person; null after a sign-out. */
  subject: string | null;
  /** When the person last left or deleted an organization. */
  leftAt?: number;
}

const KEY = 'signed-in';

/** Undefined where the browser refuses storage, and before the first sign-in. */
const readAgreed = () => readLocal(KEY) as Partial<Agreed> | undefined;
const write = (agreed: Agreed) => writeLocal(KEY, agreed);

export const noteSignIn = (subject: string): void => write({ subject });
export const noteSignOut = (): void => write({ subject: null });
/** The person has left the organization, so no tab may show its sessions. */
export function noteLeft(): void {
  const { subject } = readAgreed() ?? {};
  if (subject) write({ subject, leftAt: Date.now() });
}

/** Whether the tabs of this person have ended, and why. */
export function findEnd(subject: string): Exclude<End, 'left'> | undefined {
  const agreed = readAgreed()?.subject;
  if (agreed === undefined || agreed === subject) return undefined;
  return agreed === null ? 'signed out' : 'another person';
}

/** Calls the listener once, as soon as another tab has ended the tabs of this person. */
export function watchTabs(subject: string, onEnd: (end: End) => void): void {
  const leftAt = readAgreed()?.leftAt;
  const watching = new AbortController();
  const { signal } = watching;
  const check = () => {
    const end = findEnd(subject) ?? (readAgreed()?.leftAt === leftAt ? undefined : 'left');
    if (end === undefined) return;
    watching.abort();
    onEnd(end);
  };
  window.addEventListener('storage', check, { signal });
  // A page that the browser kept while another one was open gets no event.
  window.addEventListener('pageshow', check, { signal });
}
