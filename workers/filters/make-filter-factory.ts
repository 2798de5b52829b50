/** The implemented filters that may stand before the router, by kind. */
import type { HttpFilter } from '../../shared/resources/http-filters.ts';
import type { FilterFactory } from '../stream/filter.ts';
import { makeBasicAuthFilter } from './basic-auth-filter.ts';
import { makeBufferFilter } from './buffer-filter.ts';
import { makeCompressorFilter } from './compressor-filter.ts';
import { makeCorsFilter } from './cors-filter.ts';
import { makeCsrfFilter } from './csrf-filter.ts';
import { makeDecompressorFilter } from './decompressor-filter.ts';
import { makeDiscoveredFilter } from './discovered-filter.ts';
import { makeDynamicForwardProxyFilter } from './dynamic-forward-proxy-filter.ts';
import { makeFaultFilter } from './fault-filter.ts';
import type { FilterContext } from './filter-context.ts';
import { makeHeaderMutationFilter } from './header-mutation-filter.ts';
import { makeHealthCheckFilter } from './health-check-filter.ts';
import { makeLocalRateLimitFilter } from './local-rate-limit-filter.ts';
import { makeOnDemandFilter } from './on-demand-filter.ts';
import { makeRbacFilter } from './rbac-filter.ts';
import { makeSetFilterStateFilter } from './set-filter-state-filter.ts';
import { makeSetMetadataFilter } from './set-metadata-filter.ts';
import { makeStatefulSessionFilter } from './stateful-session-filter.ts';
import { makeTapFilter } from './tap-filter.ts';

export function makeFilterFactory(filter: HttpFilter, context: FilterContext): FilterFactory {
  switch (filter.kind) {
    case 'compressor':
      return makeCompressorFilter(filter.name, filter.options, context);
    case 'decompressor':
      return makeDecompressorFilter(filter.name, filter.options, context);
    case 'csrf':
      return makeCsrfFilter(filter.name, filter.options, context);
    case 'basic_auth':
      return makeBasicAuthFilter(filter.name, filter.options, context);
    case 'cors':
      return makeCorsFilter(filter.name, context);
    case 'fault':
      return makeFaultFilter(filter.name, filter.options, context);
    case 'buffer':
      return makeBufferFilter(filter.name, filter.maxRequestBytes, context);
    case 'local_ratelimit':
      return makeLocalRateLimitFilter(filter.name, filter.options, context);
    case 'rbac':
      return makeRbacFilter(filter.name, filter.options, context);
    case 'health_check':
      return makeHealthCheckFilter(filter.name, filter.options, context);
    default:
      return makeInfoFilter(filter, context);
    case 'router':
      throw new Error('the router is the last filter of a chain');
  }
}

/**
 * Filters about what is known of a request, which change or record it and refuse nothing, and those
 * whose settings come from elsewhere.
 */
function makeInfoFilter(
  filter: Extract<
    HttpFilter,
    {
      kind:
        | 'set_metadata'
        | 'set_filter_state'
        | 'stateful_session'
        | 'header_mutation'
        | 'tap'
        | 'discovered'
        | 'on_demand'
        | 'dynamic_forward_proxy';
    }
  >,
  context: FilterContext,
): FilterFactory {
  switch (filter.kind) {
    case 'set_metadata':
      return makeSetMetadataFilter(filter.name, filter.options, context);
    case 'set_filter_state':
      return makeSetFilterStateFilter(filter.name, filter.options);
    case 'stateful_session':
      return makeStatefulSessionFilter(filter.name, filter.options, context);
    case 'header_mutation':
      return makeHeaderMutationFilter(filter.name, filter.options);
    case 'tap':
      return makeTapFilter(filter.name, filter.options, context);
    case 'dynamic_forward_proxy':
      return makeDynamicForwardProxyFilter(filter, context);
    case 'on_demand':
      return makeOnDemandFilter(filter, context);
    case 'discovered':
      return makeDiscoveredFilter(filter, context, makeFilterFactory);
  }
}
