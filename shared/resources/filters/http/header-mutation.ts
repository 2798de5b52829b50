/** Settings of envoy.filters.http.header_mutation. */
import type { FilterResource } from '../declare-filter.ts';
import type { HeaderValueOption } from '../../routes/headers.ts';
import type { StringMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';

export type HeaderMutationRule =
  | { readonly kind: 'append'; readonly option: HeaderValueOption }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'remove_on_match'; readonly matcher: StringMatcher };

/** A change of the path's query parameters. */
export type QueryMutationRule =
  | { readonly kind: 'remove'; readonly key: string }
  | {
      readonly kind: 'append';
      readonly action: QueryAppendAction;
      readonly key: string;
      readonly format: string;
    };

export type QueryAppendAction = 'append' | 'add_if_absent' | 'overwrite' | 'overwrite_if_exists';

export interface HeaderMutationOptions {
  readonly query?: readonly QueryMutationRule[];
  readonly request: readonly HeaderMutationRule[];
  readonly requestTrailers: readonly HeaderMutationRule[];
  readonly response: readonly HeaderMutationRule[];
  readonly responseTrailers: readonly HeaderMutationRule[];
  /**
   * The chain's order: the route's own rules run last; otherwise those of the route configuration
   * do.
   */
  readonly mostSpecificWins: boolean;
}

export type HeaderMutationFilterSettings = FilterResource<'header_mutation', HeaderMutationOptions>;

export const HEADER_MUTATION_DECLARATION = declareKind<HeaderMutationFilterSettings>();
