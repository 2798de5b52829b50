/**
 * A bootstrap that has its listeners, and its clusters where asked, from one stream to a control
 * plane.
 */
import { staticCluster } from '../parts/bootstrap.ts';
import { ADMIN } from '../programs/sluice.ts';

const ADS = { ads: {}, resource_api_version: 'V3' };

export interface AdsOptions {
  readonly apiType: 'GRPC' | 'DELTA_GRPC';
  /** Absent: clusters are the bootstrap's alone. */
  readonly hasCds?: boolean;
  readonly nodeOnFirstMessageOnly?: boolean;
  /** The source of listeners and clusters. */
  readonly source?: object;
}

/** `port` is the control plane's. */
export function adsBootstrap(
  port: number,
  { apiType, hasCds = false, nodeOnFirstMessageOnly = false, source = ADS }: AdsOptions,
): object {
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
        ...(nodeOnFirstMessageOnly ? { set_node_on_first_message_only: true } : {}),
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      },
      ...(hasCds ? { cds_config: source } : {}),
      lds_config: source,
    },
  };
}
