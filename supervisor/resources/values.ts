/**
 * Reads the JSON forms of small protobuf values. They were validated before: nothing fails here.
 */

/** A google.protobuf.Duration such as `1.500s` in milliseconds, fractions kept. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * 1000;
}

export function durationMsOr(text: string | undefined, fallback: number): number {
  return text === undefined ? fallback : durationMs(text);
}

/** float and double, whose special values are written as names. */
export function float(value: number | string): number {
  return Number(value);
}

/** `{[key]: value}`, or nothing when there is no value: keeps absent fields absent. */
export function optional<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}

/** An envoy.type.v3.Percent as a share of one. */
export function shareOf(
  percent: { readonly value?: Parameters<typeof float>[0] } | undefined,
): number {
  return float(percent?.value ?? 0) / 100;
}

/** Balancers know whole percents: the rest is cut off, as in Envoy. */
export function wholePercent({ value }: { readonly value?: Parameters<typeof float>[0] }): number {
  return Math.floor(float(value ?? 0));
}
