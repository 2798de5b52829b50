/**
 * XXH64 with seed 0: what the `version` gauges show of a version's text, so that two servers with
 * the same version show the same number. Source: the xxHash specification, version 0.1.1.
 */
const MASK = (1n << 64n) - 1n;
const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;

export function versionHash(text: string): bigint {
  const bytes = Buffer.from(text);
  const stripes = Math.floor(bytes.length / 32) * 32;
  let hash = stripes === 0 ? PRIME_5 : hashStripes(bytes, stripes);
  hash = (hash + BigInt(bytes.length)) & MASK;
  let at = stripes;
  for (; at + 8 <= bytes.length; at += 8) {
    hash ^= round(0n, bytes.readBigUInt64LE(at));
    hash = (rotate(hash, 27n) * PRIME_1 + PRIME_4) & MASK;
  }
  if (at + 4 <= bytes.length) {
    hash ^= (BigInt(bytes.readUInt32LE(at)) * PRIME_1) & MASK;
    hash = (rotate(hash, 23n) * PRIME_2 + PRIME_3) & MASK;
    at += 4;
  }
  for (; at < bytes.length; at += 1) {
    hash ^= (BigInt(bytes.readUInt8(at)) * PRIME_5) & MASK;
    hash = (rotate(hash, 11n) * PRIME_1) & MASK;
  }
  hash = ((hash ^ (hash >> 33n)) * PRIME_2) & MASK;
  hash = ((hash ^ (hash >> 29n)) * PRIME_3) & MASK;
  return hash ^ (hash >> 32n);
}

function hashStripes(bytes: Buffer, end: number): bigint {
  const lanes = [(PRIME_1 + PRIME_2) & MASK, PRIME_2, 0n, (MASK + 1n - PRIME_1) & MASK];
  for (let at = 0; at < end; at += 32) {
    lanes.forEach((lane, index) => {
      lanes[index] = round(lane, bytes.readBigUInt64LE(at + index * 8));
    });
  }
  const turns = [1n, 7n, 12n, 18n];
  let hash = lanes.reduce((sum, lane, index) => sum + rotate(lane, turns[index] ?? 0n), 0n) & MASK;
  for (const lane of lanes) hash = ((hash ^ round(0n, lane)) * PRIME_1 + PRIME_4) & MASK;
  return hash;
}

function round(lane: bigint, input: bigint): bigint {
  return (rotate((lane + input * PRIME_2) & MASK, 31n) * PRIME_1) & MASK;
}

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & MASK;
}
