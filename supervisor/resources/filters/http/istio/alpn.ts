/** Resolves Istio's istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig. */
import type {
  FilterConfig,
  FilterConfig_AlpnOverride as OverrideMessage,
} from '../../../../../shared/api/generated/istio/envoy/config/filter/http/alpn/v2alpha1/config.ts';
import type {
  AlpnFilterSettings,
  AlpnOptions,
} from '../../../../../shared/resources/filters/http/istio/alpn.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<FilterConfig>(['alpn_override']);
const OVERRIDE_FIELDS = knownFields<OverrideMessage>(['upstream_protocol', 'alpn_override']);
const MEMBERS = { HTTP10: 'http10', HTTP11: 'http11', HTTP2: 'http2' } as const;

export const ISTIO_ALPN_FILTER = httpFilter(
  'istio.alpn',
  'istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig',
  (message: FilterConfig, scope, name): AlpnFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const options: { -readonly [Member in keyof AlpnOptions]: AlpnOptions[Member] } = {};
    for (const [index, override] of (message.alpn_override ?? []).entries()) {
      refuseOtherFields(override, OVERRIDE_FIELDS, scope.at('alpn_override', index));
      const { upstream_protocol: protocol = 'HTTP10', alpn_override: names = [] } = override;
      // The first one for a protocol counts.
      if (typeof protocol === 'number') {
        scope.at('alpn_override', index).error('conflict', `there is no protocol ${protocol}`);
      } else if (names.length > 0) options[MEMBERS[protocol]] ??= names;
    }
    return { kind: 'istio_alpn', name, options };
  },
);
