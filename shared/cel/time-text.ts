/** Durations and timestamps as CEL writes them, in nanoseconds. */

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['h', 3_600_000_000_000n],
  ['m', 60_000_000_000n],
  ['s', 1_000_000_000n],
  ['ms', 1_000_000n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['ns', 1n],
]);
const DURATION = /^([-+]?)((?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|µs|ns))+|0)$/;
const DURATION_PART = /(\d*)(?:\.(\d*))?(h|ms|m|s|us|µs|ns)/g;
const DURATION_MAX_NS = 315_576_000_000n * 1_000_000_000n;
/** No duration has as many digits. */
const TEXT_MAX = 64;

/** `1h30m`, `1.5s`; undefined for what is none. */
export function parseDuration(text: string): bigint | undefined {
  const [, sign, parts] = text.length > TEXT_MAX ? [] : (DURATION.exec(text) ?? []);
  if (parts === undefined) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of parts.matchAll(DURATION_PART)) {
    const size = UNITS.get(unit) ?? 0n;
    total += BigInt(whole || '0') * size;
    if (fraction !== '') total += (BigInt(fraction) * size) / 10n ** BigInt(fraction.length);
  }
  if (total > DURATION_MAX_NS) return undefined;
  return sign === '-' ? -total : total;
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[-+]\d\d:\d\d)$/i;

/** RFC 3339; undefined for what is none. */
export function parseTimestamp(text: string): bigint | undefined {
  const [, date, fraction = '', zone] = TIMESTAMP.exec(text) ?? [];
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}${zone}`.toUpperCase());
  if (Number.isNaN(ms)) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}
