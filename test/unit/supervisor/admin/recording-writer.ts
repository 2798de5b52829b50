/** A statistics writer that keeps values in a map; the first block begins at 0. */
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';

export function recordingWriter(): StatWriter & { readonly named: ReadonlyMap<string, number> } {
  const values = new Map<number, number>();
  const named = new Map<string, number>();
  let next = 0;
  const add = (index: number, amount: number) => {
    values.set(index, (values.get(index) ?? 0) + amount);
  };
  const define = (name: string): number => {
    const known = named.get(name);
    if (known !== undefined) return known;
    named.set(name, next);
    return next++;
  };
  return {
    named,
    defineBlock(template, prefix) {
      const base = named.get(prefix) ?? next;
      if (!named.has(prefix)) {
        named.set(prefix, base);
        next = base + template.stats.length;
      }
      return base;
    },
    releaseBlock: () => undefined,
    releaseNamed: () => undefined,
    defineCounter: define,
    defineGauge: define,
    defineHistogram: define,
    increment: (index) => add(index, 1),
    add,
    subtract: (index, amount) => add(index, -amount),
    setGauge: (index, value) => values.set(index, value),
    record: (index) => add(index, 1),
    valueOf: (index) => values.get(index) ?? 0,
  };
}
