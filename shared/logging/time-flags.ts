/** The log layout's flags for date and time, in local time. */
import { MONTHS, WEEKDAYS } from '../text/calendar-names.ts';
import type { TextOf } from './log-record.ts';

type TextOfDate = (date: Date) => string;

const two = (value: number): string => (value < 10 ? `0${value}` : String(value));

const weekday: TextOfDate = (date) => WEEKDAYS[date.getDay()] ?? '';
const month: TextOfDate = (date) => MONTHS[date.getMonth()] ?? '';
const hour12: TextOfDate = (date) => two(date.getHours() % 12 === 0 ? 12 : date.getHours() % 12);
const amPm: TextOfDate = (date) => (date.getHours() < 12 ? 'AM' : 'PM');
const minuteSecond: TextOfDate = (date) => `${two(date.getMinutes())}:${two(date.getSeconds())}`;
const time24: TextOfDate = (date) => `${two(date.getHours())}:${minuteSecond(date)}`;
const shortYear: TextOfDate = (date) => two(date.getFullYear() % 100);
const shortDate: TextOfDate = (date) =>
  `${two(date.getMonth() + 1)}/${two(date.getDate())}/${shortYear(date)}`;
const dateTime: TextOfDate = (date) =>
  `${weekday(date).slice(0, 3)} ${month(date).slice(0, 3)} ${date.getDate()} ${time24(date)} ${date.getFullYear()}`;

const dateFlags: Readonly<Record<string, TextOfDate>> = {
  a: (date) => weekday(date).slice(0, 3),
  A: weekday,
  b: (date) => month(date).slice(0, 3),
  h: (date) => month(date).slice(0, 3),
  B: month,
  c: dateTime,
  C: shortYear,
  Y: (date) => String(date.getFullYear()),
  D: shortDate,
  x: shortDate,
  m: (date) => two(date.getMonth() + 1),
  d: (date) => two(date.getDate()),
  H: (date) => two(date.getHours()),
  I: hour12,
  M: (date) => two(date.getMinutes()),
  S: (date) => two(date.getSeconds()),
  p: amPm,
  r: (date) => `${hour12(date)}:${minuteSecond(date)} ${amPm(date)}`,
  R: (date) => `${two(date.getHours())}:${two(date.getMinutes())}`,
  T: time24,
  X: time24,
  z: utcOffset,
  E: (date) => String(Math.floor(date.getTime() / 1000)),
};

const fractionFlags: Readonly<Record<string, TextOf>> = {
  e: ({ date }) => digits(date.getMilliseconds(), 3),
  f: ({ date, subMsNs }) => digits(date.getMilliseconds() * 1e3 + Math.floor(subMsNs / 1e3), 6),
  F: ({ date, subMsNs }) => digits(date.getMilliseconds() * 1e6 + subMsNs, 9),
};

const elapsedFlags: Readonly<Record<string, TextOf>> = {
  u: ({ elapsedNs }) => String(elapsedNs),
  i: ({ elapsedNs }) => String(elapsedNs / 1_000n),
  o: ({ elapsedNs }) => String(elapsedNs / 1_000_000n),
  O: ({ elapsedNs }) => String(elapsedNs / 1_000_000_000n),
};

/** The text of that flag, or undefined when it is none about time. */
export function timeFlag(flag: string): TextOf | undefined {
  const ofDate = dateFlags[flag];
  if (ofDate !== undefined) return (record) => ofDate(record.date);
  return fractionFlags[flag] ?? elapsedFlags[flag];
}

/** Whether that flag needs more of the time than its millisecond. */
export function needsExactTime(flag: string): boolean {
  return flag === 'f' || flag === 'F' || elapsedFlags[flag] !== undefined;
}

function utcOffset(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
