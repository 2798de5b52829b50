/** The libraries `math`, `bit` and what is safe of `os`. */
import { environmentVariable } from '../../process/environment.ts';
import { systemClock } from '../../process/clock.ts';
import type { LuaState } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import type { HostFunction, LuaValue } from '../values.ts';
import { Arguments } from './check-arguments.ts';
import { dateLibrary } from './dates.ts';

const UNARY_MATH = {
  abs: Math.abs,
  acos: Math.acos,
  asin: Math.asin,
  atan: Math.atan,
  ceil: Math.ceil,
  cos: Math.cos,
  cosh: Math.cosh,
  exp: Math.exp,
  floor: Math.floor,
  log10: Math.log10,
  sin: Math.sin,
  sinh: Math.sinh,
  sqrt: Math.sqrt,
  tan: Math.tan,
  tanh: Math.tanh,
  deg: (value: number) => (value * 180) / Math.PI,
  rad: (value: number) => (value * Math.PI) / 180,
};

export function mathLibrary(state: LuaState): Record<string, HostFunction | number> {
  const check = new Arguments(state);
  const unary = Object.entries(UNARY_MATH).map(([name, compute]): [string, HostFunction] => [
    name,
    (...args) => compute(check.number(args, 0)),
  ]);
  return {
    ...Object.fromEntries(unary),
    pi: Math.PI,
    huge: Infinity,
    atan2: (...args) => Math.atan2(check.number(args, 0), check.number(args, 1)),
    fmod: (...args) => check.number(args, 0) % check.number(args, 1),
    pow: (...args) => check.number(args, 0) ** check.number(args, 1),
    log: (...args) => {
      const value = Math.log(check.number(args, 0));
      return args[1] === undefined ? value : value / Math.log(check.number(args, 1));
    },
    ldexp: (...args) => check.number(args, 0) * 2 ** check.number(args, 1),
    frexp: (...args) => split(check.number(args, 0)),
    modf: (...args) => {
      const value = check.number(args, 0);
      const whole = Math.trunc(value);
      return [whole, Number.isFinite(value) ? value - whole : 0];
    },
    max: (...args) =>
      Math.max(check.number(args, 0), ...args.map((_each, at) => check.number(args, at))),
    min: (...args) =>
      Math.min(check.number(args, 0), ...args.map((_each, at) => check.number(args, at))),
    random: (...args) => random(state, check, args),
    randomseed: () => [],
  };
}

function split(value: number): readonly number[] {
  if (value === 0 || !Number.isFinite(value)) return [value, 0];
  let exponent = Math.floor(Math.log2(Math.abs(value))) + 1;
  let fraction = value / 2 ** exponent;
  if (Math.abs(fraction) >= 1) [fraction, exponent] = [fraction / 2, exponent + 1];
  return [fraction, exponent];
}

function random(state: LuaState, check: Arguments, args: readonly LuaValue[]): number {
  if (args.length === 0) return Math.random();
  const low = args.length === 1 ? 1 : check.integer(args, 0);
  const high = check.integer(args, args.length === 1 ? 0 : 1);
  if (low > high) throw state.argumentFailure(args.length === 1 ? 1 : 2, 'interval is empty');
  return low + Math.floor(Math.random() * (high - low + 1));
}

export function bitLibrary(state: LuaState): Record<string, HostFunction> {
  const check = new Arguments(state);
  const bits = (args: readonly LuaValue[], at: number): number => toBits(check.number(args, at));
  const shift =
    (compute: (value: number, by: number) => number): HostFunction =>
    (...args) =>
      compute(bits(args, 0), bits(args, 1) & 31) | 0;
  const fold =
    (compute: (left: number, right: number) => number): HostFunction =>
    (...args) =>
      args
        .map((_each, at) => bits(args, at))
        .reduce(compute, args.length === 0 ? bits(args, 0) : args.length > 0 ? bits(args, 0) : 0);
  return {
    tobit: (...args) => bits(args, 0),
    bnot: (...args) => ~bits(args, 0),
    band: fold((left, right) => left & right),
    bor: fold((left, right) => left | right),
    bxor: (...args) =>
      args.slice(1).reduce<number>((value, _each, at) => value ^ bits(args, at + 1), bits(args, 0)),
    lshift: shift((value, by) => value << by),
    rshift: shift((value, by) => value >>> by),
    arshift: shift((value, by) => value >> by),
    rol: shift((value, by) => (value << by) | (value >>> (32 - by || 32))),
    ror: shift((value, by) => (value >>> by) | (value << (32 - by || 32))),
    bswap: (...args) => {
      const value = bits(args, 0);
      return (value << 24) | ((value << 8) & 0xff0000) | ((value >> 8) & 0xff00) | (value >>> 24);
    },
    tohex: (...args) => {
      const digits = check.optionalInteger(args, 1, 8);
      const text = (bits(args, 0) >>> 0)
        .toString(16)
        .padStart(8, '0')
        .slice(-Math.min(8, Math.abs(digits)) || 8);
      return digits < 0 ? text.toUpperCase() : text;
    },
  };
}

/** As LuaJIT does: rounded, then modulo 2^32. */
function toBits(value: number): number {
  return Number.isFinite(value) ? Number(BigInt.asIntN(32, BigInt(Math.round(value)))) : 0;
}

/** What it leaves out would touch this machine; each says so by name. */
export function osLibrary(state: LuaState): Record<string, HostFunction> {
  const check = new Arguments(state);
  const refused = (name: string): [string, HostFunction] => [
    name,
    refusedFunction(state, `os.${name}`),
  ];
  return {
    ...Object.fromEntries(
      ['execute', 'exit', 'remove', 'rename', 'setlocale', 'tmpname'].map(refused),
    ),
    ...dateLibrary(state, check),
    getenv: (...args) => {
      const value = environmentVariable(check.text(args, 0));
      return value === undefined ? undefined : Buffer.from(value).toString('latin1');
    },
    clock: () => systemClock.monotonicMs() / 1000,
    difftime: (...args) => check.number(args, 0) - check.optionalNumber(args, 1, 0),
  };
}

/** A function that scripts of a proxy may not have. */
export function refusedFunction(state: LuaState, name: string): HostFunction {
  return () => {
    throw state.hostFailure(`${name} is not available to scripts here`);
  };
}

export function tableOf(members: Record<string, LuaValue>): LuaTable {
  const table = new LuaTable();
  for (const [name, value] of Object.entries(members)) table.set(name, value);
  return table;
}
