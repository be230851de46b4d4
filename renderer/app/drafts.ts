/**
 * Drafts: the text of a form, kept over a lock. After the unlock the form is as it was. Only the memory of this page has
 * it. A freeze, another screen and the end of the session drop it. Fields for secrets keep nothing.
 */

import { useEffect, useRef, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { dropDrafts, keptDrafts } from './kept-drafts.ts';
import { statusIn } from './rpc/vault.tsx';

/** Drops the drafts of a screen that the person leaves. @returns what stops it. */
export function dropDraftsOnLeave(): () => void {
  window.addEventListener('hashchange', dropDrafts);
  return () => {
    window.removeEventListener('hashchange', dropDrafts);
  };
}

/** As `useState`, for a field of a form. @param field Its name among the fields of its screen. */
export function useDraftState<Value>(
  field: string,
  initial: Value,
): readonly [value: Value, set: (value: Value) => void] {
  const client = useQueryClient();
  const [key] = useState(() => `${window.location.hash} ${field}`);
  const [value, set] = useState(() => (keptDrafts.has(key) ? (keptDrafts.get(key) as Value) : initial));
  const newest = useRef(value);
  useEffect(() => {
    newest.current = value;
  }, [value]);
  useEffect(() => {
    // A form that begins again on this screen begins with what it is given.
    keptDrafts.delete(key);
    return () => {
      // The form goes because the vault was locked.
      const status = statusIn(client);
      if (status?.state === 'locked' && status.frozen === null) keptDrafts.set(key, newest.current);
    };
  }, [client, key]);
  return [value, set];
}
