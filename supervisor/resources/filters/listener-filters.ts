/** Every listener filter: one row each. They see a connection before its filter chain is chosen. */
import type { ListenerFilter } from '../../../shared/resources/filters/listener-filters.ts';
import { ExtensionRegistry } from '../extensions.ts';
import { HTTP_INSPECTOR_FILTER } from './listener/http-inspector.ts';
import { LISTENER_LOCAL_RATE_LIMIT_FILTER } from './listener/local-rate-limit.ts';
import { ORIGINAL_DST_FILTER } from './listener/original-dst.ts';
import { PROXY_PROTOCOL_FILTER } from './listener/proxy-protocol.ts';
import { LISTENER_FILTER_STATE_FILTER } from './listener/set-filter-state.ts';
import { TLS_INSPECTOR_FILTER } from './listener/tls-inspector.ts';

export const LISTENER_FILTERS = new ExtensionRegistry<ListenerFilter>(
  'envoy.filters.listener',
  'listener filter',
  {
    http_inspector: HTTP_INSPECTOR_FILTER,
    original_dst: ORIGINAL_DST_FILTER,
    proxy_protocol: PROXY_PROTOCOL_FILTER,
    listener_local_ratelimit: LISTENER_LOCAL_RATE_LIMIT_FILTER,
    listener_set_filter_state: LISTENER_FILTER_STATE_FILTER,
    tls_inspector: TLS_INSPECTOR_FILTER,
  },
);
