/** Parts of timestamps and durations: `getHours()` and the like, in UTC or in a time zone. */
import { CelDuration, CelFailure, CelTimestamp, NO_OVERLOAD, type CelValue } from './values.ts';

const DAY_MS = 86_400_000;
const MILLISECOND_NS = 1_000_000n;

type PartOf = (date: Date) => number;

const PARTS: ReadonlyMap<string, PartOf> = new Map<string, PartOf>([
  ['getFullYear', (date) => date.getUTCFullYear()],
  ['getMonth', (date) => date.getUTCMonth()],
  ['getDate', (date) => date.getUTCDate()],
  ['getDayOfMonth', (date) => date.getUTCDate() - 1],
  ['getDayOfWeek', (date) => date.getUTCDay()],
  [
    'getDayOfYear',
    (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0)) / DAY_MS),
  ],
  ['getHours', (date) => date.getUTCHours()],
  ['getMinutes', (date) => date.getUTCMinutes()],
  ['getSeconds', (date) => date.getUTCSeconds()],
  ['getMilliseconds', (date) => date.getUTCMilliseconds()],
]);

const DURATION_PARTS: ReadonlyMap<string, (ns: bigint) => bigint> = new Map([
  ['getHours', (ns: bigint) => ns / 3_600_000_000_000n],
  ['getMinutes', (ns: bigint) => ns / 60_000_000_000n],
  ['getSeconds', (ns: bigint) => ns / 1_000_000_000n],
  ['getMilliseconds', (ns: bigint) => (ns / MILLISECOND_NS) % 1000n],
]);

export function isTimePart(name: string): boolean {
  return PARTS.has(name);
}

const NO_ZONE = new CelFailure('unknown time zone');
const NO_TIME = new CelFailure('time out of range');

export function timePart(name: string, value: CelValue, zone?: CelValue): CelValue {
  if (value instanceof CelDuration) {
    const part = zone === undefined ? DURATION_PARTS.get(name) : undefined;
    return part === undefined ? NO_OVERLOAD : part(value.ns);
  }
  const part = PARTS.get(name);
  if (!(value instanceof CelTimestamp) || part === undefined) return NO_OVERLOAD;
  const ms = Number(value.ns / MILLISECOND_NS);
  if (Number.isNaN(new Date(ms).getTime())) return NO_TIME;
  if (zone === undefined) return BigInt(part(new Date(ms)));
  const offset = typeof zone === 'string' ? zoneOffset(zone, ms) : undefined;
  return offset === undefined ? NO_ZONE : BigInt(part(new Date(ms + offset)));
}

const FIXED_ZONE = /^([-+]?)(\d\d):(\d\d)$/;
const ZONES_KEPT = 64;
const zones = new Map<string, Intl.DateTimeFormat>();

/** Milliseconds that the zone is before UTC at that moment. */
function zoneOffset(zone: string, ms: number): number | undefined {
  const [, sign, hours, minutes] = FIXED_ZONE.exec(zone) ?? [];
  if (hours !== undefined) {
    const size = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return sign === '-' ? -size : size;
  }
  try {
    const format = zones.get(zone) ?? makeZone(zone);
    const whole = Math.floor(ms / 1000) * 1000;
    const text = format.format(whole);
    return Date.parse(`${text.replace(' ', 'T')}Z`) - whole;
  } catch {
    return undefined;
  }
}

function makeZone(zone: string): Intl.DateTimeFormat {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  if (zones.size < ZONES_KEPT) zones.set(zone, format);
  return format;
}
