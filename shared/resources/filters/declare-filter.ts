/** How an extension's shared file declares its kind, what workers receive of it, and its stats. */
import type { Kinded } from '../by-kind.ts';
import type { StatTemplate } from '../../stats/template.ts';

/** A filter as workers receive it. */
export interface FilterResource<Kind extends string = string, Options = object> {
  readonly kind: Kind;
  /** The configured name, which per-route settings refer to. */
  readonly name: string;
  readonly options: Options;
  /** The filter sees only requests whose route has settings for it. */
  readonly isOffByDefault?: true;
}

/** The options of a filter that needs none: what a route says is all. */
export type NoOptions = Readonly<Record<never, never>>;

export interface Declaration<Settings extends Kinded> {
  readonly templates: readonly StatTemplate[];
  /** For the compiler alone: nothing has it. */
  readonly settings?: Settings;
}

export function declareKind<Settings extends Kinded>(
  ...templates: readonly StatTemplate[]
): Declaration<Settings> {
  return { templates };
}

/** The union of all that a list declares. */
export type DeclaredBy<List extends readonly Declaration<Kinded>[]> = NonNullable<
  List[number]['settings']
>;

export function templatesOf(list: readonly Declaration<Kinded>[]): readonly StatTemplate[] {
  return list.flatMap(({ templates }) => [...templates]);
}

/**
 * envoy.config.route.v3.FilterConfig without settings: whether the filter sees the route's requests,
 * and nothing else.
 */
export interface FilterSwitch {
  /** No settings of a filter have a member of this name. */
  readonly isFilterSwitch: true;
  readonly disabled: boolean;
}

export function isFilterSwitch(config: unknown): config is FilterSwitch {
  return typeof config === 'object' && config !== null && 'isFilterSwitch' in config;
}
