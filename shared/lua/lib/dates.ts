/** `os.time` and `os.date`. */
import { systemClock } from '../../process/clock.ts';
import type { LuaState } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import type { HostFunction, LuaValue, Results } from '../values.ts';
import type { Arguments } from './check-arguments.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const DAY_MS = 86_400_000;
const NOON = 12;

export function dateLibrary(state: LuaState, check: Arguments): Record<string, HostFunction> {
  return {
    time: (...args) =>
      args[0] === undefined ? Math.floor(systemClock.wallMs() / 1000) : timeOf(state, check, args),
    date: (...args) => date(state, check, args),
  };
}

function timeOf(state: LuaState, check: Arguments, args: readonly LuaValue[]): number {
  const table = check.table(args, 0);
  const field = (name: string, byDefault?: number): number => {
    const value = table.get(name);
    if (value === undefined && byDefault !== undefined) return byDefault;
    if (value === undefined) throw state.hostFailure(`field '${name}' missing in date table`);
    return check.integer([value], 0);
  };
  const day = [field('year'), field('month') - 1, field('day')] as const;
  const made = new Date(...day, field('hour', NOON), field('min', 0), field('sec', 0));
  return Math.floor(made.getTime() / 1000);
}

interface Moment {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly yearDay: number;
}

function momentOf(seconds: number, isUtc: boolean): Moment {
  const at = new Date(seconds * 1000);
  // The local time is read as if it was UTC.
  const date = isUtc ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / DAY_MS) + 1,
  };
}

function date(state: LuaState, check: Arguments, args: readonly LuaValue[]): Results {
  const given = check.optionalText(args, 0, '%c');
  const seconds = check.optionalNumber(args, 1, Math.floor(systemClock.wallMs() / 1000));
  const isUtc = given.startsWith('!');
  const format = isUtc ? given.slice(1) : given;
  const moment = momentOf(seconds, isUtc);
  if (Number.isNaN(moment.year)) throw state.hostFailure('time result cannot be represented');
  if (format.startsWith('*t')) return dateTable(moment);
  return expanded(format, moment);
}

function dateTable(moment: Moment): LuaTable {
  const table = new LuaTable();
  table.set('sec', moment.second);
  table.set('min', moment.minute);
  table.set('hour', moment.hour);
  table.set('day', moment.day);
  table.set('month', moment.month);
  table.set('year', moment.year);
  table.set('wday', moment.weekday + 1);
  table.set('yday', moment.yearDay);
  table.set('isdst', false);
  return table;
}

const two = (value: number): string => String(value).padStart(2, '0');

const CONVERSIONS: ReadonlyMap<string, (moment: Moment) => string> = new Map([
  ['a', ({ weekday }: Moment) => (DAYS[weekday] ?? '').slice(0, 3)],
  ['A', ({ weekday }: Moment) => DAYS[weekday] ?? ''],
  ['b', ({ month }: Moment) => (MONTHS[month - 1] ?? '').slice(0, 3)],
  ['B', ({ month }: Moment) => MONTHS[month - 1] ?? ''],
  ['c', (moment: Moment) => expanded('%a %b %e %H:%M:%S %Y', moment)],
  ['d', ({ day }: Moment) => two(day)],
  ['D', (moment: Moment) => expanded('%m/%d/%y', moment)],
  ['e', ({ day }: Moment) => String(day).padStart(2)],
  ['F', (moment: Moment) => expanded('%Y-%m-%d', moment)],
  ['H', ({ hour }: Moment) => two(hour)],
  ['I', ({ hour }: Moment) => two(hour % NOON || NOON)],
  ['j', ({ yearDay }: Moment) => String(yearDay).padStart(3, '0')],
  ['m', ({ month }: Moment) => two(month)],
  ['M', ({ minute }: Moment) => two(minute)],
  ['p', ({ hour }: Moment) => (hour < NOON ? 'AM' : 'PM')],
  ['S', ({ second }: Moment) => two(second)],
  ['T', (moment: Moment) => expanded('%H:%M:%S', moment)],
  ['w', ({ weekday }: Moment) => String(weekday)],
  ['x', (moment: Moment) => expanded('%m/%d/%y', moment)],
  ['X', (moment: Moment) => expanded('%H:%M:%S', moment)],
  ['y', ({ year }: Moment) => two(year % 100)],
  ['Y', ({ year }: Moment) => String(year)],
  ['Z', () => 'UTC'],
  ['%', () => '%'],
]);

function expanded(format: string, moment: Moment): string {
  return format.replace(
    /%(.)/gs,
    (whole, letter: string) => CONVERSIONS.get(letter)?.(moment) ?? whole,
  );
}
