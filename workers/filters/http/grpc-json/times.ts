/** google.protobuf.Timestamp and Duration as JSON has them. */

export interface SecondsAndNanos {
  readonly seconds: bigint;
  readonly nanos: number;
}

const TIMESTAMP_MIN = -62_135_596_800n;
const TIMESTAMP_MAX = 253_402_300_799n;
const DURATION_MAX = 315_576_000_000n;
const NANOS = 1_000_000_000;
const TIMESTAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;
/** Beyond the limits, but a time. */
const YEAR_LATE = /^\d{5,}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const LONG_DURATION = /^-?\d+(?:\.\d+)?s$/;
const NO_TIMESTAMP =
  "Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset.";
const TIMESTAMP_LIMITS = 'Timestamp value exceeds limits';
const NO_DURATION = "Illegal duration format; duration must end with 's'";
const NO_SECONDS = 'Invalid duration format, failed to parse seconds';
const DURATION_LIMITS = 'Duration value exceeds limits';
const DURATION = /^(-?)(\d{1,12})(?:\.(\d{1,9}))?s$/;

/** Undefined where it is outside of the range. */
export function printTimestamp({ seconds, nanos }: SecondsAndNanos): string | undefined {
  if (seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX || nanos < 0 || nanos >= NANOS) {
    return undefined;
  }
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  return `${date}${fraction(nanos)}Z`;
}

export function printDuration({ seconds, nanos }: SecondsAndNanos): string | undefined {
  const isWrong =
    seconds > DURATION_MAX ||
    seconds < -DURATION_MAX ||
    Math.abs(nanos) >= NANOS ||
    (seconds > 0n && nanos < 0) ||
    (seconds < 0n && nanos > 0);
  if (isWrong) return undefined;
  const sign = seconds < 0n || nanos < 0 ? '-' : '';
  const whole = seconds < 0n ? -seconds : seconds;
  return `${sign}${whole}${fraction(Math.abs(nanos))}s`;
}

/** No, three, six or nine digits. */
function fraction(nanos: number): string {
  if (nanos === 0) return '';
  return `.${String(nanos)
    .padStart(9, '0')
    .replace(/(000){1,2}$/, '')}`;
}

/** Gives what is wrong with a text that is none, in Envoy's words. */
export function readTimestamp(text: string): SecondsAndNanos | string {
  const match = TIMESTAMP.exec(text);
  if (match === null) return YEAR_LATE.test(text) ? TIMESTAMP_LIMITS : NO_TIMESTAMP;
  const [, year, month, day, hour, minute, second, digits = '', zone = 'Z'] = match;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`;
  const ms = Date.parse(iso);
  // The runtime takes 31 February for a day of March.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== iso.slice(0, 10)) {
    return 'Invalid time format: Out-of-range field';
  }
  const offset = zone === 'Z' ? 0 : offsetSeconds(zone);
  const seconds = BigInt(ms / 1000 - offset);
  if (seconds < TIMESTAMP_MIN || seconds > TIMESTAMP_MAX) return TIMESTAMP_LIMITS;
  return { seconds, nanos: Number(digits.padEnd(9, '0')) };
}

function offsetSeconds(zone: string): number {
  const seconds = Number(zone.slice(1, 3)) * 3600 + Number(zone.slice(4, 6)) * 60;
  return zone.startsWith('-') ? -seconds : seconds;
}

export function readDuration(text: string): SecondsAndNanos | string {
  if (!text.endsWith('s')) return NO_DURATION;
  const match = DURATION.exec(text);
  if (match === null) return LONG_DURATION.test(text) ? DURATION_LIMITS : NO_SECONDS;
  const [, sign = '', whole = '0', digits = ''] = match;
  const seconds = BigInt(whole);
  if (seconds > DURATION_MAX) return DURATION_LIMITS;
  const nanos = Number(digits.padEnd(9, '0'));
  return sign === '-' ? { seconds: -seconds, nanos: nanos === 0 ? 0 : -nanos } : { seconds, nanos };
}
