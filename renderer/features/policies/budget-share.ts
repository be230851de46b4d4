/** Percent, at most 100; exact enough for a picture. A budget of nothing is full. */
export const shareOf = (spent: string, limit: string): number => {
  const most = BigInt(limit);
  if (most === 0n) return 100;
  const share = (BigInt(spent) * 1000n) / most;
  return Number(share > 1000n ? 1000n : share) / 10;
};
