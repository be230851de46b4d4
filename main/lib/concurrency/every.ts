import { owned, type OnFault } from '../faults.ts';

/**
 * Has work done at an interval, of which a fault ends neither the process nor the interval. It keeps no process from ending.
 * @returns what stops it.
 */
export function every(ms: number, work: () => unknown, onFault?: OnFault): () => void {
  const timer = setInterval(owned(work, onFault), ms).unref();
  return () => {
    clearInterval(timer);
  };
}
