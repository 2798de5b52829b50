/** The words of broken constraints, as Envoy's validators print them. */
import type { RuleTime } from '../../../shared/api/descriptor.ts';

interface Bounds<T> {
  readonly lt?: T;
  readonly lte?: T;
  readonly gt?: T;
  readonly gte?: T;
}

/** The bounds that a value must keep, in Envoy's words. */
export function boundsText<T>(rules: Bounds<T>, print: (bound: T) => string): string {
  const low = rules.gte ?? rules.gt;
  const high = rules.lte ?? rules.lt;
  if (low !== undefined && high !== undefined) {
    const open = rules.gte === undefined ? '(' : '[';
    const close = rules.lte === undefined ? ')' : ']';
    return `value must be inside range ${open}${print(low)}, ${print(high)}${close}`;
  }
  if (low !== undefined) {
    return `value must be greater than ${rules.gte === undefined ? '' : 'or equal to '}${print(low)}`;
  }
  return high === undefined
    ? ''
    : `value must be less than ${rules.lte === undefined ? '' : 'or equal to '}${print(high)}`;
}

/** Whether a value keeps all bounds, by a comparison like that of `Array.sort`. */
export function keepsBounds<T>(rules: Bounds<T>, compare: (bound: T) => number): boolean {
  return (
    (rules.gt === undefined || compare(rules.gt) > 0) &&
    (rules.gte === undefined || compare(rules.gte) >= 0) &&
    (rules.lt === undefined || compare(rules.lt) < 0) &&
    (rules.lte === undefined || compare(rules.lte) <= 0)
  );
}

/** `value length must be between 1 and 5 characters, inclusive`. */
export function lengthText(
  low: number | undefined,
  high: number | undefined,
  unit: string,
): string {
  if (low !== undefined && high !== undefined) {
    return `value length must be between ${low} and ${high} ${unit}, inclusive`;
  }
  return low === undefined
    ? `value length must be at most ${high ?? 0} ${unit}`
    : `value length must be at least ${low} ${unit}`;
}

/** A duration the way Envoy writes it: `1h0m0s`, `5m0s`, `1.5s`, `250ms`, `0s`. */
export function shortDuration(time: RuleTime): string {
  const nanos = time.nanos ?? 0;
  const total = time.seconds ?? 0;
  if (total === 0 && nanos > 0) {
    const [unit, size] = nanos >= 1e6 ? ['ms', 1e6] : nanos >= 1e3 ? ['µs', 1e3] : ['ns', 1];
    return `${nanos / Number(size)}${unit}`;
  }
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const seconds = (total % 60) + nanos / 1e9;
  const hourText = hours > 0 ? `${hours}h` : '';
  const minuteText = hours > 0 || minutes > 0 ? `${minutes}m` : '';
  return `${hourText}${minuteText}${seconds}s`;
}

/** `stat_prefix` as the validators name it: `StatPrefix`. */
export function pascalCase(name: string): string {
  return name
    .split('_')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');
}
