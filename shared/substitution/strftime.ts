/**
 * Formats times after strftime, with the extensions that formats of Envoy use: `%f` and
 * `%3f` (fraction of a second), `%E3S`, `%E*S`, `%E*f`, `%Ez`, `%ET`. What is no conversion stays
 * as it is. A format is compiled once.
 */
import { MONTHS, WEEKDAYS } from '../text/calendar-names.ts';

/** Wall time in Unix milliseconds to text. */
export type TimeFormatter = (wallMs: number) => string;

interface Moment {
  /** The moment moved by the zone's offset, so that its UTC fields are the local ones. */
  readonly date: Date;
  readonly wallMs: number;
  readonly offsetMinutes: number;
}

type Field = (moment: Moment) => string;

const CONVERSION = /%(?:(\d)f|E(\d|\*)([Sf])|E(\*)?z|(ET)|E4Y|([_\-0^#]*)[EO]?([A-Za-z%]))/g;

export function compileTimeFormat(format: string, zone: 'utc' | 'local'): TimeFormatter {
  const fields: (string | Field)[] = [];
  let position = 0;
  for (const match of format.matchAll(CONVERSION)) {
    if (match.index > position) fields.push(format.slice(position, match.index));
    fields.push(fieldOf(match, zone));
    position = match.index + match[0].length;
  }
  if (position < format.length) fields.push(format.slice(position));
  return (wallMs) => {
    const moment = momentOf(wallMs, zone);
    let text = '';
    for (const field of fields) text += typeof field === 'string' ? field : field(moment);
    return text;
  };
}

/** `2026-11-21T11:17:50.178Z`; the part before the fraction is made once per second. */
export function makeIsoFormatter(): TimeFormatter {
  let second = Number.NaN;
  let prefix = '';
  return (wallMs) => {
    const nowSecond = Math.floor(wallMs / 1000);
    if (nowSecond !== second) {
      second = nowSecond;
      prefix = new Date(nowSecond * 1000).toISOString().slice(0, 20);
    }
    const millisecond = Math.floor(wallMs - nowSecond * 1000);
    if (millisecond >= 100) return `${prefix}${millisecond}Z`;
    return millisecond >= 10 ? `${prefix}0${millisecond}Z` : `${prefix}00${millisecond}Z`;
  };
}

function momentOf(wallMs: number, zone: 'utc' | 'local'): Moment {
  const offsetMinutes = zone === 'utc' ? 0 : -new Date(wallMs).getTimezoneOffset();
  return { date: new Date(wallMs + offsetMinutes * 60_000), wallMs, offsetMinutes };
}

function fieldOf(match: RegExpMatchArray, zone: 'utc' | 'local'): string | Field {
  const [whole, digits, width, unit, seconds, designator, flags = '', letter = ''] = match;
  if (digits !== undefined) return fraction(Number(digits));
  if (width !== undefined) {
    const part = width === '*' ? shortFraction : fraction(Number(width));
    if (unit === 'f') return part;
    return (moment) => withFraction(two(moment.date.getUTCSeconds()), part(moment));
  }
  if (designator !== undefined) return 'T';
  if (whole === '%E4Y') return (moment) => pad(moment.date.getUTCFullYear(), 4, '0');
  if (whole.endsWith('z') && letter === '') {
    return (moment) => offset(moment.offsetMinutes, ':') + (seconds === undefined ? '' : ':00');
  }
  return flagged(whole, flags, letter, zone);
}

function flagged(whole: string, flags: string, letter: string, zone: 'utc' | 'local') {
  const field = letter === 'Z' ? zoneName(zone) : FIELDS[letter];
  if (field === undefined || typeof field === 'string') return field ?? whole;
  let shaped = field;
  if (/[\^#]/.test(flags)) shaped = (moment) => field(moment).toUpperCase();
  if (flags.includes('-')) shaped = (moment) => field(moment).replace(/^[0 ]+(?=.)/, '');
  if (flags.includes('_')) {
    shaped = (moment) => field(moment).replace(/^0+(?=.)/, (zeros) => ' '.repeat(zeros.length));
  }
  return shaped;
}

const MS_PER_DAY = 86_400_000;

const FIELDS: Readonly<Record<string, string | Field | undefined>> = {
  '%': '%',
  a: (m) => dayName(m).slice(0, 3),
  A: dayName,
  b: (m) => monthName(m).slice(0, 3),
  B: monthName,
  c: (m) => `${dayAndMonth(m)} ${clockTime(m)} ${m.date.getUTCFullYear()}`,
  C: (m) => two(Math.floor(m.date.getUTCFullYear() / 100)),
  d: (m) => two(m.date.getUTCDate()),
  D: shortDate,
  e: (m) => pad(m.date.getUTCDate(), 2, ' '),
  f: (m) => fraction(9)(m),
  F: (m) =>
    `${m.date.getUTCFullYear()}-${two(m.date.getUTCMonth() + 1)}-${two(m.date.getUTCDate())}`,
  g: (m) => two(isoWeek(m.date).year % 100),
  G: (m) => String(isoWeek(m.date).year),
  h: (m) => monthName(m).slice(0, 3),
  H: (m) => two(m.date.getUTCHours()),
  I: (m) => two(twelveHours(m)),
  j: (m) => pad(dayOfYear(m.date) + 1, 3, '0'),
  k: (m) => pad(m.date.getUTCHours(), 2, ' '),
  l: (m) => pad(twelveHours(m), 2, ' '),
  m: (m) => two(m.date.getUTCMonth() + 1),
  M: (m) => two(m.date.getUTCMinutes()),
  p: (m) => (m.date.getUTCHours() < 12 ? 'AM' : 'PM'),
  P: (m) => (m.date.getUTCHours() < 12 ? 'am' : 'pm'),
  r: (m) =>
    `${two(twelveHours(m))}${clockTime(m).slice(2)} ${m.date.getUTCHours() < 12 ? 'AM' : 'PM'}`,
  R: (m) => clockTime(m).slice(0, 5),
  s: (m) => String(Math.floor(m.wallMs / 1000)),
  S: (m) => two(m.date.getUTCSeconds()),
  t: '\t',
  T: clockTime,
  u: (m) => String(m.date.getUTCDay() === 0 ? 7 : m.date.getUTCDay()),
  U: (m) => two(Math.floor((dayOfYear(m.date) + 7 - m.date.getUTCDay()) / 7)),
  V: (m) => two(isoWeek(m.date).week),
  w: (m) => String(m.date.getUTCDay()),
  W: (m) => two(Math.floor((dayOfYear(m.date) + 7 - ((m.date.getUTCDay() + 6) % 7)) / 7)),
  x: shortDate,
  X: clockTime,
  y: (m) => two(m.date.getUTCFullYear() % 100),
  Y: (m) => String(m.date.getUTCFullYear()),
  z: (m) => offset(m.offsetMinutes, ''),
};

function dayName({ date }: Moment): string {
  return WEEKDAYS[date.getUTCDay()] ?? '';
}

function monthName({ date }: Moment): string {
  return MONTHS[date.getUTCMonth()] ?? '';
}

function dayAndMonth(moment: Moment): string {
  const day = pad(moment.date.getUTCDate(), 2, ' ');
  return `${dayName(moment).slice(0, 3)} ${monthName(moment).slice(0, 3)} ${day}`;
}

function clockTime({ date }: Moment): string {
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

function shortDate({ date }: Moment): string {
  return `${two(date.getUTCMonth() + 1)}/${two(date.getUTCDate())}/${two(date.getUTCFullYear() % 100)}`;
}

function twelveHours({ date }: Moment): number {
  return date.getUTCHours() % 12 === 0 ? 12 : date.getUTCHours() % 12;
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / MS_PER_DAY);
}

/** ISO 8601: the week with the year's first Thursday is week 1. */
function isoWeek(date: Date): { year: number; week: number } {
  const thursday = new Date(date.getTime() + (3 - ((date.getUTCDay() + 6) % 7)) * MS_PER_DAY);
  return { year: thursday.getUTCFullYear(), week: 1 + Math.floor(dayOfYear(thursday) / 7) };
}

function fraction(digits: number): Field {
  return ({ wallMs }) => nanoseconds(wallMs).slice(0, digits);
}

function shortFraction({ wallMs }: Moment): string {
  const digits = nanoseconds(wallMs).replace(/0+$/, '');
  return digits === '' ? '0' : digits;
}

/** A double holds wall time to about a microsecond, so the last three digits are always zero. */
function nanoseconds(wallMs: number): string {
  return `${pad(Math.floor((wallMs - Math.floor(wallMs / 1000) * 1000) * 1e3), 6, '0')}000`;
}

function withFraction(whole: string, part: string): string {
  return part === '' || part === '0' ? whole : `${whole}.${part}`;
}

function offset(minutes: number, separator: string): string {
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${separator}${two(size % 60)}`;
}

function zoneName(zone: 'utc' | 'local'): string | Field {
  if (zone === 'utc') return 'UTC';
  const names = new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' });
  return ({ wallMs }) =>
    names.formatToParts(wallMs).find((part) => part.type === 'timeZoneName')?.value ?? '';
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

function pad(value: number, width: number, filler: string): string {
  return String(value).padStart(width, filler);
}
