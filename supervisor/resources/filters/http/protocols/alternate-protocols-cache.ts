/**
 * The cache of hosts that offer HTTP/3. Node.js has no QUIC, so that nobody would ask it: requests go
 * by the other versions of HTTP with the filter and without it.
 */
import { httpFilter } from '../../http-filter-row.ts';

export const ALTERNATE_PROTOCOLS_CACHE = httpFilter(
  'envoy.filters.http.alternate_protocols_cache',
  'envoy.extensions.filters.http.alternate_protocols_cache.v3.FilterConfig',
  (_message, scope) => {
    const words = 'Node.js has no QUIC: hosts that offer HTTP/3 are not remembered';
    scope.warning('no_effect', words);
    return undefined;
  },
);
