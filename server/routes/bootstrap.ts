import type { Deps } from '../deps.ts';
import type { Handlers } from '../http/handler.ts';
import { storeUnavailable } from '../store/dialect.ts';
import { VERSION } from '../version.ts';

export const bootstrapHandlers = ({ store, identity, publicUrl }: Deps) =>
  ({
    async getHealth() {
      await store.ping().catch((error) => {
        throw storeUnavailable(error);
      });
      return { status: 200, body: { status: 'ok', version: VERSION, service: 'session-capture' } };
    },

    async getConfig() {
      return { status: 200, body: { ...identity.bootstrap(), apiUrl: publicUrl } };
    },
  }) satisfies Partial<Handlers>;
