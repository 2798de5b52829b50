/** A bootstrap that has its listeners, and its clusters where asked, from one stream to a control plane. */
import { staticCluster } from './bootstrap.ts';
import { ADMIN } from './sluice.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };

export interface AdsOptions {
  readonly apiType: 'GRPC' | 'DELTA_GRPC';
  /** Absent: clusters are the bootstrap's alone. */
  readonly hasCds?: boolean;
}

/** `port` is the control plane's. */
export function adsBootstrap(port: number, { apiType, hasCds = false }: AdsOptions): object {
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: {
      clusters: [staticCluster('control', [port], { http2_protocol_options: {} })],
    },
    dynamic_resources: {
      ads_config: {
        api_type: apiType,
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      },
      ...(hasCds ? { cds_config: ADS } : {}),
      lds_config: ADS,
    },
  };
}
