/** Puts the upstream client behind the seam by which filters and loggers send their requests. */
import { NO_CONNECTION } from '../net/no-connection.ts';
import type { ClientRequest, UpstreamClient } from '../router/client/upstream-client.ts';
import type { ServiceClient } from '../services/service-client.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';

/**
 * The limit of a request's body, while it waits for a connection: Envoy's limit of a stream without
 * one.
 */
const BUFFER_BYTES_MAX = 1024 * 1024;
const BALANCING = { hashOf: undefined, subset: undefined };
const EXPECTED = 'x-envoy-expected-rq-timeout-ms';

export function makeServiceClient(client: UpstreamClient, clusters: ClusterManager): ServiceClient {
  return {
    send: (name, request, callbacks) => {
      const cluster = clusters.get(name);
      if (cluster === undefined) return undefined;
      const { headers, timeoutMs, connection } = request;
      if (timeoutMs > 0) headers.set(EXPECTED, String(timeoutMs));
      // Field by field: a spread is a call into the runtime, once for each request.
      const whole: ClientRequest = {
        headers,
        endStream: request.endStream,
        timeoutMs,
        bufferLimitBytes: BUFFER_BYTES_MAX,
        connection: connection ?? NO_CONNECTION,
        tellsAddress: request.tellsAddress,
        tellsInternal: request.tellsInternal !== false,
        priority: 'DEFAULT',
        balancing: BALANCING,
        retryPolicy: request.retryPolicy,
      };
      return client.send(cluster, whole, callbacks);
    },
  };
}
