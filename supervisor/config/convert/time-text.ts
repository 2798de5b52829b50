/**
 * Durations and times between protobuf's JSON text and seconds with nanoseconds. The text that is
 * written has no fraction, or one of 3, 6 or 9 digits.
 */
import { Invalid } from './scalars.ts';

/** Both parts have the same sign. */
export interface SecondsAndNanos {
  readonly seconds: bigint;
  readonly nanos: number;
}

/** Ten thousand years either way, the limit of google.protobuf.Duration. */
const longestDuration = 315_576_000_000n;

/** The years 1 to 9999, the limits of google.protobuf.Timestamp. */
const earliestTime = -62_135_596_800n;
const latestTime = 253_402_300_799n;

export function parseDuration(text: string): SecondsAndNanos | Invalid {
  const match = /^(-?)([0-9]+)(\.([0-9]*))?(.*)$/s.exec(text);
  if (match === null) {
    return new Invalid(`duration must start with an integer: '${text}'`);
  }
  const [, sign, whole, dot, fraction = '', rest] = match;
  if (rest !== 's') {
    return new Invalid(`duration must end with a single 's': '${text}'`);
  }
  if (dot !== undefined && (fraction === '' || fraction.length > 9)) {
    return new Invalid(`duration had bad nanoseconds: '${text}'`);
  }
  const factor = sign === '-' ? -1 : 1;
  return checkDuration({
    seconds: BigInt(whole ?? '0') * BigInt(factor),
    nanos: Number(fraction.padEnd(9, '0')) * factor,
  });
}

export function checkDuration(value: SecondsAndNanos): SecondsAndNanos | Invalid {
  const { seconds, nanos } = value;
  const tooLong = seconds > longestDuration || seconds < -longestDuration;
  if (tooLong || Math.abs(nanos) > 999_999_999) {
    return new Invalid('duration out of range');
  }
  const mixedSigns = (seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0);
  return mixedSigns ? new Invalid('duration with seconds and nanos of different signs') : value;
}

export function formatDuration({ seconds, nanos }: SecondsAndNanos): string {
  const negative = seconds < 0n || nanos < 0;
  const whole = seconds < 0n ? -seconds : seconds;
  return `${negative ? '-' : ''}${whole}${formatFraction(Math.abs(nanos))}s`;
}

function formatFraction(nanos: number): string {
  if (nanos === 0) {
    return '';
  }
  const digits = String(nanos).padStart(9, '0');
  return `.${digits.replace(/(000){1,2}$/, '')}`;
}

const timeText =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

export function parseTimestamp(text: string): SecondsAndNanos | Invalid {
  const match = timeText.exec(text);
  if (match === null) {
    return new Invalid(`expected a time such as 2024-01-31T12:00:00Z, found '${text}'`);
  }
  const part = (index: number): number => Number(match[index] ?? '0');
  const [month, day, hour, minute, second] = [part(2), part(3), part(4), part(5), part(6)];
  const date = new Date(0);
  date.setUTCFullYear(part(1), month - 1, day);
  date.setUTCHours(hour, minute, second);
  if (month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59) {
    return new Invalid(`there is no time '${text}'`);
  }
  const zone = (part(9) * 60 + part(10)) * 60 * (match[8] === '-' ? -1 : 1);
  const seconds = BigInt(Math.floor(date.getTime() / 1000) - zone);
  return checkTimestamp({ seconds, nanos: Number((match[7] ?? '').padEnd(9, '0')) });
}

export function checkTimestamp(value: SecondsAndNanos): SecondsAndNanos | Invalid {
  const { seconds, nanos } = value;
  const outside = seconds < earliestTime || seconds > latestTime;
  return outside || nanos < 0 || nanos > 999_999_999
    ? new Invalid('timestamp out of range')
    : value;
}

export function formatTimestamp({ seconds, nanos }: SecondsAndNanos): string {
  const iso = new Date(Number(seconds) * 1000).toISOString();
  return `${iso.slice(0, -'.000Z'.length)}${formatFraction(nanos)}Z`;
}
