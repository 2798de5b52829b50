/**
 * Resolves the HTTP filters between the router and connections to hosts. There is the codec alone,
 * which ends every chain and does nothing more than a cluster without filters.
 */
import type { HttpFilter } from '../../../shared/api/generated/envoy/extensions/filters/network/http_connection_manager/v3/http_connection_manager.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';

const CODEC = 'envoy.filters.http.upstream_codec';
const CODEC_TYPE = 'envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec';

export const UPSTREAM_FILTERS = new ExtensionRegistry<true>(
  'envoy.filters.http.upstream',
  'upstream HTTP filter',
  [extension(CODEC, CODEC_TYPE, () => true)],
);

const FIELDS = knownFields<HttpFilter>(['name', 'typed_config', 'disabled', 'is_optional']);

export function checkUpstreamFilters(filters: readonly HttpFilter[], scope: Scope): void {
  for (const [index, filter] of filters.entries()) {
    const place = scope.at(index);
    refuseOtherFields(filter, FIELDS, place);
    if (UPSTREAM_FILTERS.resolve(filter, place) === undefined) continue;
    const { name = '' } = filter;
    if (index < filters.length - 1) {
      const what = `terminal filter named ${name} of type ${CODEC}`;
      place.error(
        'conflict',
        `Error: ${what} must be the last filter in a upstream http filter chain.`,
      );
    } else if (filter.disabled === true) {
      const what = `the last (terminal) filter (${name}) in the chain`;
      place.at('disabled').error('conflict', `Error: ${what} cannot be disabled by default.`);
    }
  }
}
