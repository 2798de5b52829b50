/** Typed metadata from the configuration: who is told of it, and what is overwritten. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  checkResponse,
  grpcCluster,
  textsAt,
} from '../../support/peers/services/asked-services.ts';
import { answerCall, framed, startGrpcPeer } from '../../support/peers/services/grpc-peer.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const filter = (name: string, message: string, fields: object): object => ({
  name,
  typed_config: { '@type': `${TYPE}.${name}.v3.${message}`, ...fields },
});
const typed = (metadata_namespace: string, value: string, allow_overwrite = false): object => ({
  metadata_namespace,
  allow_overwrite,
  typed_value: {
    '@type': `${TYPE}.set_metadata.v3.Config`,
    metadata_namespace: value,
  },
});

it('tells services of typed metadata by namespace', async () => {
  await using auth = await startGrpcPeer((call) =>
    call.stream.on('end', () => answerCall(call, framed(checkResponse({})))),
  );
  const metadata = [
    typed('one', 'first'),
    typed('one', 'denied'),
    typed('two', 'replaced'),
    typed('two', 'second', true),
    typed('untold', 'secret'),
    { metadata_namespace: 'one', value: { a: 'plain' } },
    { metadata_namespace: 'nothing' },
  ];
  const asks = {
    grpc_service: { envoy_grpc: { cluster_name: 'auth' } },
    metadata_context_namespaces: ['one', 'nothing'],
    typed_metadata_context_namespaces: ['one', 'two', 'nobody', 'constructor'],
  };
  const http_filters = [
    filter('set_metadata', 'Config', { metadata }),
    filter('ext_authz', 'ExtAuthz', asks),
    filter('router', 'Router', {}),
  ];
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 204 } }];
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters } })],
      clusters: [grpcCluster('auth', auth.port)],
    }),
    concurrency: 1,
  });
  const port = await sluice.listenerPort('web');
  assert.equal((await fetchOnce({ port })).status, 204);
  const told = auth.calls[0]?.body() ?? Buffer.alloc(0);
  assert.deepEqual(textsAt(told, [1, 11, 1, 1]), ['one']);
  assert.deepEqual(textsAt(told, [1, 11, 2, 1]), ['one', 'two']);
  const type = `${TYPE}.set_metadata.v3.Config`;
  assert.deepEqual(textsAt(told, [1, 11, 2, 2, 1]), [type, type]);
  assert.deepEqual(textsAt(told, [1, 11, 2, 2, 2, 1]), ['first', 'second']);
  assert.equal(await sluice.stat('http.web.set_metadata.overwrite_denied'), 1);
});
