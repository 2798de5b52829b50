/** Stats of a script's own, below those of its filter. */
import { type LuaValue, NO_VALUES } from '../../../../shared/lua/values.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import {
  type Method,
  type MethodMaker,
  type Methods,
  type Scope,
  StreamObject,
} from './stream-object.ts';

/** The limit of one script: its stats stay for as long as its filter does. */
const STATS_MAX = 1000;
const NAME = /^[\x21-\x7e]{1,256}$/;

type Kind = 'counter' | 'gauge' | 'histogram';

export class StatsObject extends StreamObject {
  constructor(methods: StatsMethods, scope: Scope) {
    super(methods.scope, scope);
  }
}

class StatObject extends StreamObject {
  readonly index: number;

  constructor(methods: Methods, scope: Scope, index: number) {
    super(methods, scope);
    this.index = index;
  }
}

export interface StatsMethods {
  readonly scope: Methods;
}

export interface ScriptStats {
  readonly stats: StatWriter;
  /** Ends in a dot. */
  readonly prefix: string;
  readonly onRelease: (act: () => void) => void;
}

export function statsMethods(
  maker: MethodMaker,
  { stats, prefix, onRelease }: ScriptStats,
): StatsMethods {
  const { check, state } = maker;
  const known = new Map<string, number>();
  const define = (kind: Kind, name: string): number => {
    const key = `${kind} ${name}`;
    const index = known.get(key);
    if (index !== undefined) return index;
    if (!NAME.test(name)) throw state.hostFailure('the name of a stat is not valid');
    if (known.size >= STATS_MAX) throw state.hostFailure('too many stats');
    const whole = prefix + name;
    const made =
      kind === 'counter'
        ? stats.defineCounter(whole)
        : kind === 'gauge'
          ? stats.defineGauge(whole)
          : stats.defineHistogram(whole);
    known.set(key, made);
    onRelease(() => stats.releaseNamed(whole));
    return made;
  };
  const amount = (args: readonly LuaValue[], byDefault?: number): number => {
    const value =
      byDefault !== undefined && args[1] === undefined ? byDefault : check.number(args, 1);
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER))
      throw state.argumentFailure(2, 'value out of range');
    return Math.floor(value);
  };
  const done =
    (act: (index: number, args: readonly LuaValue[]) => void): Method<StatObject> =>
    ({ index }, args) => {
      act(index, args);
      return NO_VALUES;
    };
  const changing: Record<string, Method<StatObject>> = {
    inc: done((index) => stats.increment(index)),
    add: done((index, args) => stats.add(index, amount(args))),
    value: ({ index }) => stats.valueOf(index),
  };
  const counters = maker.methods<StatObject>(StatObject, changing);
  const gauges = maker.methods<StatObject>(StatObject, {
    ...changing,
    dec: done((index) => stats.subtract(index, 1)),
    sub: done((index, args) => stats.subtract(index, amount(args))),
    set: done((index, args) => stats.setGauge(index, amount(args))),
  });
  const histograms = maker.methods<StatObject>(StatObject, {
    recordValue: done((index, args) => stats.record(index, amount(args))),
  });
  return {
    scope: maker.methods<StatsObject>(StatsObject, {
      counter: ({ scope }, args) =>
        new StatObject(counters, scope, define('counter', check.text(args, 1))),
      gauge: ({ scope }, args) =>
        new StatObject(gauges, scope, define('gauge', check.text(args, 1))),
      histogram: ({ scope }, args) =>
        new StatObject(histograms, scope, define('histogram', check.text(args, 1))),
    }),
  };
}
