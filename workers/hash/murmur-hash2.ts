/** MurmurHash2, 64-bit version A, with the seed that libstdc++ uses; see xxhash64.ts for the shape. */
import type { Hash64 } from './xxhash64.ts';

const SEED = 0xc70f6907n;
const MULTIPLIER = 0xc6a4a7935bd1e995n;
const MASK = 0xffff_ffff_ffff_ffffn;

/** Hashes text with one character per byte. Only rings are made of it, never requests. */
export function murmurHash2(text: string): Hash64 {
  const length = text.length & ~7;
  let hash = SEED ^ ((BigInt(text.length) * MULTIPLIER) & MASK);
  for (let at = 0; at < length; at += 8) {
    const mixed = shiftMix((readBytes(text, at, 8) * MULTIPLIER) & MASK);
    hash = ((hash ^ ((mixed * MULTIPLIER) & MASK)) * MULTIPLIER) & MASK;
  }
  if (length < text.length) {
    hash = ((hash ^ readBytes(text, length, text.length - length)) * MULTIPLIER) & MASK;
  }
  hash = shiftMix((shiftMix(hash) * MULTIPLIER) & MASK);
  return { high: Number(hash >> 32n), low: Number(hash & 0xffff_ffffn) };
}

function shiftMix(value: bigint): bigint {
  return value ^ (value >> 47n);
}

function readBytes(text: string, at: number, count: number): bigint {
  let value = 0n;
  for (let byte = count - 1; byte >= 0; byte--) {
    value = (value << 8n) | BigInt(text.charCodeAt(at + byte) & 0xff);
  }
  return value;
}
