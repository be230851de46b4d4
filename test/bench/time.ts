/** @returns microseconds for one run: the median of several batches, after one to warm up. */
export function time(run: () => void, batch: number): number {
  const measure = (): number => {
    const start = performance.now();
    for (let index = 0; index < batch; index++) run();
    return ((performance.now() - start) * 1000) / batch;
  };
  measure();
  const samples = Array.from({ length: 9 }, measure).sort((a, b) => a - b);
  return samples[4] ?? Number.NaN;
}
