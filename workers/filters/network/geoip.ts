/** Keeps what is known of the client's address in the connection's filter state. */
import { quoteJson } from '../../../shared/json/quote-json.ts';
import type { NetworkGeoip } from '../../../shared/resources/filters/network/geoip.ts';
import { parseIpAddress } from '../../net/client-address.ts';
import { FilterState } from '../../net/filter-state.ts';
import { compileLineFormat } from '../../substitution/compile-format.ts';
import { GeoLookup } from '../common/geo/geo-lookup.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';

const KEY = 'envoy.geoip';

export function makeGeoipGate(filter: NetworkGeoip, context: NetworkFilterContext): NetworkGate {
  const lookup = new GeoLookup(filter.provider, filter.statPrefix, context);
  const client = filter.clientIp && compileLineFormat(filter.clientIp);
  return {
    onConnection(info) {
      const found = new Map<string, string>();
      const asked = client && parseIpAddress(client(info));
      const { ip } = asked ?? info.connection.remoteAddress;
      lookup.find(ip, (name, text) => found.set(name, text));
      if (found.size > 0) {
        const names = [...found.keys()].toSorted();
        const members = names.map(
          (name) => `${quoteJson(name)}:${quoteJson(found.get(name) ?? '')}`,
        );
        const json = `{${members.join(',')}}`;
        (info.connection.filterState ??= new FilterState()).keepMessage(KEY, json, json, found);
      }
      return true;
    },
    release: () => lookup.release(),
  };
}
