import { EventEmitter, setMaxListeners } from 'node:events';
import type { LiveChange } from '../../contract/extensions.ts';

export type Listener = (change: LiveChange) => void;

/** Tells whoever watches an organization that one of its sessions changed. */
export interface Live {
  publish(organizationId: string, change: LiveChange): void;
  /** @returns the function that stops watching */
  subscribe(organizationId: string, listener: Listener): () => void;
  /** Aborted when the service closes: whoever watches stops. */
  closing: AbortSignal;
  close(): void;
}

export function createLive(): Live {
  const emitter = new EventEmitter().setMaxListeners(0);
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return {
    publish: (organizationId, change) => void emitter.emit(organizationId, change),
    subscribe(organizationId, listener) {
      emitter.on(organizationId, listener);
      return () => emitter.off(organizationId, listener);
    },
    closing: controller.signal,
    close: () => controller.abort(),
  };
}
