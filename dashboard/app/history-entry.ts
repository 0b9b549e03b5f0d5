import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';

/**
 * Returns a function for the key of the present entry in the browser's history. The key stays the same after a reload, and
 * after the reader has left and come back; each further address has another one.
 */
export function useHistoryEntry(): () => string {
  const { history } = useRouter();
  return useCallback(() => history.location.state.__TSR_key ?? '', [history]);
}
