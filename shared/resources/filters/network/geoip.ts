/** Settings of envoy.filters.network.geoip. */
import type { AccessLogFormat } from '../../access-log.ts';
import type { GeoProvider } from '../common/geo.ts';
import { declareKind } from '../declare-filter.ts';

export interface NetworkGeoip {
  readonly kind: 'network_geoip';
  /** Stands before `geoip.` in statistic names. */
  readonly statPrefix: string;
  readonly provider: GeoProvider;
  /** Writes the address that is looked up; absent: the client's. */
  readonly clientIp?: AccessLogFormat;
}

export const NETWORK_GEOIP_DECLARATION = declareKind<NetworkGeoip>();
