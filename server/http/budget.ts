import { Problem } from '../../contract/problem.ts';

/** Limits the bytes of request bodies in memory, in total and for each caller. */
export interface Budget {
  /** Opens the account of a request. Requests of the same `caller` share a quarter of the budget. */
  open(caller: string): Account;
  /** Bytes in memory now. */
  used(): number;
}

/** The part of the budget that one request has taken. */
export interface Account {
  /** @throws Problem `service_unavailable` if there is no room for the bytes now, or the caller has left */
  take(bytes: number): void;
  /** Returns bytes that are no longer needed. */
  give(bytes: number): void;
  /** Returns all bytes. Afterwards nothing can be taken. */
  close(): void;
}

/** A budget of `total` bytes that no single caller can use up. */
export function createBudget(total: number): Budget {
  const share = total / 4;
  const callers = new Map<string, number>();
  let used = 0;

  function change(caller: string, bytes: number): void {
    used += bytes;
    const taken = (callers.get(caller) ?? 0) + bytes;
    if (taken === 0) callers.delete(caller);
    else callers.set(caller, taken);
  }

  return {
    used: () => used,
    open(caller) {
      let taken = 0;
      let open = true;
      const add = (bytes: number) => {
        if (!open || bytes === 0) return;
        taken += bytes;
        change(caller, bytes);
      };
      return {
        take(bytes) {
          if (!open) throw gone();
          if (used + bytes > total || (callers.get(caller) ?? 0) + bytes > share) throw crowded();
          add(bytes);
        },
        give: (bytes) => add(-bytes),
        close() {
          add(-taken);
          open = false;
        },
      };
    },
  };
}

const gone = () => new Problem('service_unavailable', 'The caller has left.', { retryAfter: 1 });

const crowded = () =>
  new Problem('service_unavailable', 'Too many large requests are being read at the moment. Try again.', {
    retryAfter: 1,
  });
