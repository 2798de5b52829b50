/**
 * Statistics are declared once, in templates: ordered lists with kind, help text and import rule.
 * A block is one instance of a template: a prefix (`cluster.web.`) and a base index. The statistic
 * `prefix + name` of a block lives at `base + template.index[name]`; its name is never stored.
 */

export type StatKind = 'counter' | 'gauge' | 'histogram' | 'text_readout';

/** What a child epoch does with its parent's value of a gauge. Counters are always added. */
export type GaugeImport = 'accumulate' | 'never_import';

export interface StatSpec {
  readonly name: string;
  readonly kind: StatKind;
  readonly help: string;
  /** Histograms only. `percent` values are fractions of one in Envoy's sinks. */
  readonly unit?: 'ms' | 'us' | 'bytes' | 'percent' | 'none';
  readonly import?: GaugeImport;
  /** A gauge that is 0 or 1: 1 while it is 1 in any process. */
  readonly isFlag?: boolean;
  /** A gauge that counts down from 2^64 where there is no limit: -2 is printed as 2^64 - 2. */
  readonly wraps?: boolean;
  /** Hidden statistics appear only with `/stats?hidden=include|only`. */
  readonly hidden?: boolean;
}

export interface StatTemplate<Name extends string = string> {
  /** Unique over all templates; the wire form between processes of one build. */
  readonly id: string;
  readonly stats: readonly StatSpec[];
  /** Offset of each statistic within a block. */
  readonly index: Readonly<Record<Name, number>>;
  /** Blocks of an internal template feed other pages (`/clusters`), never `/stats`. */
  readonly internal: boolean;
}

/**
 * Declares a template. `stats` maps each name to its specification; the declaration order is the
 * order within a block. Throws when a name appears twice or the id is taken (programmer error).
 */
export function defineTemplate<
  const Specs extends Readonly<Record<string, Omit<StatSpec, 'name'>>>,
>(
  id: string,
  specs: Specs,
  options: { readonly internal?: boolean } = {},
): StatTemplate<Extract<keyof Specs, string>> {
  const stats = Object.entries(specs).map(([name, spec]) => ({ name, ...spec }));
  const index = Object.fromEntries(stats.map((spec, offset) => [spec.name, offset]));
  return {
    id,
    stats,
    index: index as Record<Extract<keyof Specs, string>, number>,
    internal: options.internal ?? false,
  };
}
