/** `hds_config`: hosts that are checked for a control plane. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  EndpointHealthResponse,
  HealthCheckRequestOrEndpointHealthResponse as Sent,
} from '../../../shared/api/generated/envoy/service/health/v3/hds.ts';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import {
  framed,
  startGrpcPeer,
  type GrpcPeer,
  type SeenCall,
} from '../../support/peers/services/grpc-peer.ts';
import { messagesOf, wireMessage } from '../../support/peers/services/messages.ts';
import { CLOSED_PORT, startHttpUpstream } from '../../support/peers/upstream.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const SENT = 'envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse';
const SPECIFIER = 'envoy.service.health.v3.HealthCheckSpecifier';
const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** A cluster of these ports on this machine, asked for `path`. */
function checked(cluster: string, ports: readonly number[], path = '/health'): object {
  return {
    cluster_name: cluster,
    health_checks: [
      {
        timeout: '1s',
        interval: '0.1s',
        no_traffic_interval: '0.1s',
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        http_health_check: { path },
      },
    ],
    locality_endpoints: [
      {
        locality: { region: 'r', zone: 'z' },
        endpoints: ports.map((port) => ({
          address: { socket_address: { address: '127.0.0.1', port_value: port } },
        })),
      },
    ],
  };
}

const specifier = (...clusters: object[]): Buffer =>
  wireMessage(SPECIFIER, { cluster_health_checks: clusters, interval: '0.1s' });

function answer({ stream }: SeenCall, ...messages: readonly Buffer[]): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
  for (const message of messages) stream.write(message);
}

async function startChecking(plane: GrpcPeer): Promise<Sluice> {
  const target = { envoy_grpc: { cluster_name: 'plane' } };
  return await startSluice({
    bootstrap: bootstrap(
      { clusters: [staticCluster('plane', [plane.port], HTTP2)] },
      { hds_config: { api_type: 'GRPC', grpc_services: [target] } },
    ),
  });
}

/** Cluster, port and status of every host in the latest report. */
function latest(plane: GrpcPeer): (readonly [string, number, string])[] {
  const messages = messagesOf<Sent>(plane.calls[0], SENT);
  const report: EndpointHealthResponse = messages.at(-1)?.endpoint_health_response ?? {};
  return (report.cluster_endpoints_health ?? []).flatMap(
    ({ cluster_name: name = '', locality_endpoints_health: localities = [] }) =>
      localities
        .flatMap(({ endpoints_health: hosts = [] }) => hosts)
        .map(({ endpoint, health_status: status }) => {
          const port = endpoint?.address?.socket_address?.port_value ?? 0;
          return [name, port, String(status)] as const;
        }),
  );
}

async function reported(plane: GrpcPeer, expected: readonly (readonly [string, number, string])[]) {
  await waitUntil('such a report', () =>
    JSON.stringify(latest(plane)) === JSON.stringify(expected) ? true : undefined,
  );
}

describe('checks for a control plane', () => {
  it('reports the hosts by cluster, and follows them', async () => {
    let status = 200;
    const names = new Set<string | undefined>();
    await using host = await startHttpUpstream((request, response) => {
      names.add(request.headers.host);
      response.statusCode = status;
      response.end();
    });
    await using plane = await startGrpcPeer((call) => {
      answer(call, specifier(checked('a', [host.port, CLOSED_PORT])));
    });
    await using sluice = await startChecking(plane);
    await reported(plane, [
      ['a', host.port, 'HEALTHY'],
      ['a', CLOSED_PORT, 'UNHEALTHY'],
    ]);
    status = 500;
    await reported(plane, [
      ['a', host.port, 'UNHEALTHY'],
      ['a', CLOSED_PORT, 'UNHEALTHY'],
    ]);
    const [first] = messagesOf<Sent>(plane.calls[0], SENT);
    assert.deepEqual(first?.health_check_request?.capability, {
      health_check_protocols: ['HTTP', 'TCP'],
    });
    assert.deepEqual(names, new Set(['a']));
    assert.doesNotMatch((await sluice.admin('/clusters')).body, /^a::|hds/m);
  });

  it('takes what comes later in the place of what was there', async () => {
    await using host = await startHttpUpstream((_request, response) => response.end());
    await using plane = await startGrpcPeer((call) => {
      answer(call, specifier(checked('a', [host.port])));
    });
    await using sluice = await startChecking(plane);
    await reported(plane, [['a', host.port, 'HEALTHY']]);
    plane.calls[0]?.stream.write(specifier(checked('b', [CLOSED_PORT])));
    await reported(plane, [['b', CLOSED_PORT, 'UNHEALTHY']]);
    plane.calls[0]?.stream.write(specifier(checked('b', [CLOSED_PORT])));
    await sluice.waitForStat('hds_delegate.requests', (value) => value === 3);
    assert.equal(await sluice.stat('hds_delegate.updates'), 2);
  });

  it('refuses what is wrong and goes on with what was right', async () => {
    await using host = await startHttpUpstream((_request, response) => response.end());
    const wrong = checked('a', [1], '');
    await using plane = await startGrpcPeer((call) => {
      const messages = [specifier(wrong), framed(Buffer.from([0xff, 0xff, 0xff]))];
      answer(call, specifier(checked('a', [host.port])), ...messages);
    });
    await using sluice = await startChecking(plane);
    await sluice.waitForStat('hds_delegate.errors', (value) => value === 2);
    await reported(plane, [['a', host.port, 'HEALTHY']]);
    assert.equal(plane.calls.length, 1);
  });

  it('checks on in a worker that takes the place of a dead one', async () => {
    let asked = 0;
    await using host = await startHttpUpstream((_request, response) => {
      asked++;
      response.end();
    });
    await using plane = await startGrpcPeer((call) => {
      answer(call, specifier(checked('a', [host.port])));
    });
    await using sluice = await startChecking(plane);
    await reported(plane, [['a', host.port, 'HEALTHY']]);
    for (const worker of childrenOf(sluice.pid)) process.kill(worker, 'SIGKILL');
    const before = asked;
    await waitUntil('checks by the new worker', () => (asked > before + 1 ? true : undefined));
  });
});
