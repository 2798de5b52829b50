/** The hash of a key, by which balancers that hash choose its host. */
import type { Hash64 } from '../../hash/byte-hash.ts';
import { MurmurHash2 } from '../../hash/murmur-hash2.ts';

/** Longer keys are copied into bytes of their own. */
const COPIED_MAX = 256;
const hasher = new MurmurHash2();
const copy = Buffer.allocUnsafeSlow(COPIED_MAX);

/** The key is latin-1. */
export function hashOfKey(key: string): Hash64 {
  const { length } = key;
  if (length > COPIED_MAX) hasher.hash(Buffer.from(key, 'latin1'), length);
  else {
    for (let at = 0; at < length; at++) copy[at] = key.charCodeAt(at);
    hasher.hash(copy, length);
  }
  const { high, low } = hasher.state;
  return { high: high >>> 0, low: low >>> 0 };
}

/** What stands between the first braces, where that is anything; else the whole key. */
export function hashTagOf(key: string): string {
  const start = key.indexOf('{');
  if (start < 0) return key;
  const end = key.indexOf('}', start);
  return end <= start + 1 ? key : key.slice(start + 1, end);
}
