/** Amounts as people write them. */

/** A whole number of smallest units as a decimal, to the last digit. */
export function decimal(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0');
  const cut = digits.length - decimals;
  const fraction = digits.slice(cut).replace(/0+$/, '');
  return `${sign}${digits.slice(0, cut)}${fraction === '' ? '' : `.${fraction}`}`;
}
