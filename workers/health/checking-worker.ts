/**
 * Which worker checks a host: the living one with the highest hash of worker and host. When a
 * worker dies only its hosts move, and they spread over all that live.
 */

/** Undefined while no worker lives. */
export function checkingWorker(
  cluster: string,
  host: string,
  living: readonly number[],
): number | undefined {
  const key = hash(`${cluster}\0${host}`, FNV_OFFSET);
  let best: number | undefined;
  let bestWeight = -1;
  for (const worker of living) {
    const weight = mix(key ^ Math.imul(worker + 1, GOLDEN));
    if (weight > bestWeight) {
      best = worker;
      bestWeight = weight;
    }
  }
  return best;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const GOLDEN = 0x9e3779b1;

function hash(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), FNV_PRIME);
  }
  return value;
}

/** Spreads the bits over all 32, unsigned. */
function mix(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
