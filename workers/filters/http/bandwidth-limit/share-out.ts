/** Divides bytes by weight: nobody gets more than it wants, what one leaves goes to the others. */

export interface Want {
  readonly wanted: number;
  readonly weight: number;
}

/** How much each gets; together the smaller of `bytes` and of all that is wanted. */
export function shareOut(bytes: number, wants: readonly Want[]): number[] {
  const order = wants.map((want, index) => ({ ...want, index }));
  // Who wants least for its weight is satisfied first.
  order.sort((a, b) => a.wanted * b.weight - b.wanted * a.weight);
  const shares = wants.map(() => 0);
  let left = bytes;
  let weightLeft = order.reduce((sum, { weight }) => sum + weight, 0);
  for (const { wanted, weight, index } of order) {
    const share = Math.min(wanted, Math.floor((left * weight) / weightLeft));
    shares[index] = share;
    left -= share;
    weightLeft -= weight;
  }
  giveRest(left, order, shares);
  return shares;
}

/** Bytes that rounding left over. */
function giveRest(
  bytes: number,
  order: readonly (Want & { readonly index: number })[],
  shares: number[],
): void {
  let left = bytes;
  for (const { wanted, index } of order) {
    if (left <= 0) return;
    const share = shares[index] ?? 0;
    const more = Math.min(left, wanted - share);
    shares[index] = share + more;
    left -= more;
  }
}
