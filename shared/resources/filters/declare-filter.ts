/** How a filter's shared file declares its kind, what workers receive of it, and its stats. */
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

/** Of a filter that needs none: what a route says is all. */
export type NoOptions = Readonly<Record<never, never>>;

export interface FilterDeclaration<Filter extends FilterResource> {
  readonly templates: readonly StatTemplate[];
  /** For the compiler alone: nothing has it. */
  readonly filter?: Filter;
}

export function declareFilter<Filter extends FilterResource>(
  ...templates: readonly StatTemplate[]
): FilterDeclaration<Filter> {
  return { templates };
}

/**
 * envoy.config.route.v3.FilterConfig with `disabled`: the filter does not see the route's requests.
 */
export interface DisabledFilter {
  readonly disabled: true;
}
