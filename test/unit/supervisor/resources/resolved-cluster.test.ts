import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resolved, base, withCluster } from './resolved.ts';

describe('a resolved cluster', () => {
  it('says how often its connections over HTTP/2 ask whether the host is there', async () => {
    const bootstrap = base();
    const keepAlive = { interval: '30s', timeout: '5s' };
    bootstrap.static_resources.clusters.push({
      name: 'control',
      connect_timeout: '1s',
      load_assignment: { cluster_name: 'control' },
      http2_protocol_options: { connection_keepalive: keepAlive },
    });
    const grpc = [{ envoy_grpc: { cluster_name: 'control' } }];
    const ads = { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: grpc };
    const { clusters } = await resolved({
      ...bootstrap,
      node: { id: 'me', cluster: 'mine' },
      dynamic_resources: { ads_config: ads },
    });
    const asked = { intervalMs: 30_000, timeoutMs: 5000, jitterPercent: 15, idleIntervalMs: 0 };
    assert.deepEqual(clusters.at(-1)!.resource.upstreamHttp.http2?.keepAlive, asked);
  });

  it("has the API's defaults", async () => {
    const [cluster] = (await resolved(base())).clusters;
    const limit = 1024;
    const connections = { maxConnections: limit, maxPendingRequests: limit };
    const thresholds = { ...connections, maxRequests: limit, maxRetries: 3 };
    assert.deepEqual(cluster?.resource, {
      name: 'c',
      statName: 'c',
      connectTimeoutMs: 5_000,
      lbPolicy: { kind: 'round_robin' },
      healthyPanicThreshold: 50,
      perConnectionBufferLimitBytes: 1_048_576,
      circuitBreakers: { DEFAULT: thresholds, HIGH: thresholds },
      upstreamHttp: {
        protocol: 'HTTP1',
        idleTimeoutMs: 3_600_000,
        maxStreamDurationMs: 0,
        maxResponseHeadersKb: 80,
        maxHeadersCount: 100,
      },
      tcpIdleTimeoutMs: 600_000,
      closeConnectionsOnHostHealthFailure: false,
      ignoreNewHostsUntilFirstHealthCheck: false,
      trackClusterStats: { timeoutBudgets: false, requestResponseSizes: false },
    });
    assert.deepEqual(cluster?.hosts, {
      cluster: 'c',
      overprovisioningFactor: 140,
      hosts: [
        {
          id: '127.0.0.1:1',
          address: { kind: 'ip', address: '127.0.0.1', port: 1 },
          hostname: '',
          weight: 1,
          priority: 0,
          health: 'healthy',
          region: '',
          zone: '',
          subZone: '',
          canary: false,
        },
      ],
    });
  });

  it('takes the first thresholds of each priority', async () => {
    const bootstrap = withCluster({
      circuit_breakers: {
        thresholds: [
          { priority: 'HIGH', max_requests: 1 },
          { max_connections: 2, track_remaining: true },
          { max_connections: 3 },
        ],
      },
    });
    const [cluster] = (await resolved(bootstrap)).clusters;
    assert.equal(cluster?.resource.circuitBreakers.HIGH.maxRequests, 1);
    assert.equal(cluster?.resource.circuitBreakers.DEFAULT.maxConnections, 2);
    assert.equal(cluster?.resource.circuitBreakers.DEFAULT.trackRemaining, true);
  });

  it('takes the typed HTTP options before the older fields', async () => {
    const name = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
    const bootstrap = withCluster({
      common_http_protocol_options: { idle_timeout: '1s' },
      typed_extension_protocol_options: {
        [name]: {
          '@type': `type.googleapis.com/${name}`,
          common_http_protocol_options: { idle_timeout: '2s', max_requests_per_connection: 5 },
          use_downstream_protocol_config: {},
        },
      },
    });
    const [cluster] = (await resolved(bootstrap)).clusters;
    assert.equal(cluster?.resource.upstreamHttp.idleTimeoutMs, 2_000);
    assert.equal(cluster?.resource.upstreamHttp.protocol, 'DOWNSTREAM');
    assert.equal(cluster?.resource.maxRequestsPerConnection, 5);
  });
});
