/** The class: an answer from before a change stays on the screen, since nothing asks again after it. */
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { refresh } from './refresh.ts';

test.each([0, 1])('a change while answer %i is on its way is shown', async (before) => {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 30_000 } } });
  const answers: ((value: string) => void)[] = [];
  const observer = new QueryObserver(client, {
    queryKey: ['budgets'],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const unsubscribe = observer.subscribe(() => undefined);
  try {
    if (before === 1) {
      answers[0]?.('first');
      await expect.poll(() => observer.getCurrentResult().data).toBe('first');
      void refresh(client, { queryKey: ['budgets'] });
    }
    const old = answers.length;
    const refreshed = refresh(client, { queryKey: ['budgets'] });
    answers[old - 1]?.('from before the change');
    await expect.poll(() => answers.length).toBe(old + 1);
    answers[old]?.('from after it');
    await refreshed;
    expect(observer.getCurrentResult().data).toBe('from after it');
  } finally {
    unsubscribe();
    client.clear();
  }
});
