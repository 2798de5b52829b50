import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ServerCredentials } from '@grpc/grpc-js';
import { staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestAuthority } from '../../support/parts/certificates.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { resource } from '../../support/peers/discovery-files.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const CLUSTER = resource.cluster({
  name: 'up',
  type: 'STATIC',
  load_assignment: { cluster_name: 'up' },
});

const SECRET = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';

/** With `secretPath` the certificate comes by SDS from that file. */
function tlsSocket(authority: TestAuthority, san: string, secretPath?: string): object {
  const client = authority.issue('client', 'DNS:client.test');
  const file = (path: string) => ({ filename: path });
  const certificate = {
    certificate_chain: file(client.certPath),
    private_key: file(client.keyPath),
  };
  if (secretPath !== undefined) {
    const secret = { '@type': SECRET, name: 'client', tls_certificate: certificate };
    writeFileSync(secretPath, JSON.stringify({ resources: [secret] }));
  }
  const context = {
    sni: 'control.test',
    common_tls_context: {
      ...(secretPath === undefined
        ? { tls_certificates: [certificate] }
        : {
            tls_certificate_sds_secret_configs: [
              { name: 'client', sds_config: { path_config_source: { path: secretPath } } },
            ],
          }),
      validation_context: {
        trusted_ca: file(authority.certPath),
        match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: san } }],
      },
    },
  };
  const type = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: { '@type': type, ...context },
  };
}

function bootstrapOf(port: number, socket: object, source: object): object {
  return {
    node: { id: 'me', cluster: 'mine' },
    admin: ADMIN,
    static_resources: {
      clusters: [
        staticCluster('control', [port], { transport_socket: socket, connect_timeout: '5s' }),
      ],
    },
    dynamic_resources: source,
  };
}

const GRPC = {
  ads_config: {
    api_type: 'GRPC',
    transport_api_version: 'V3',
    grpc_services: [
      {
        envoy_grpc: { cluster_name: 'control' },
        initial_metadata: [
          { key: 'x-token', value: 'an earlier one' },
          { key: 'x-token', value: 'secret' },
          { key: 'x-raw-bin', value: 'AAEC' },
        ],
      },
    ],
  },
  cds_config: { ads: {}, initial_fetch_timeout: '0.5s', resource_api_version: 'V3' },
};
const REST = {
  cds_config: {
    api_config_source: {
      api_type: 'REST',
      transport_api_version: 'V3',
      cluster_names: ['control'],
      refresh_delay: '0.2s',
    },
  },
};

async function knows(sluice: Sluice, cluster: string): Promise<boolean> {
  const { body } = await sluice.admin('/clusters');
  return body.includes(`${cluster}::`);
}

describe('a control plane behind a cluster with a TLS transport socket', () => {
  it('is spoken to over mutual TLS by gRPC, with the server name and metadata of the configuration', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const { cert, key } = authority.issue('server', 'DNS:control.test');
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
    await using control = await startControlPlane(
      ServerCredentials.createSsl(Buffer.from(authority.cert), [pair], true),
    );
    control.set('cluster.v3.Cluster', 'c1', [CLUSTER]);
    const socket = tlsSocket(authority, 'control.test', join(scratch.path, 'client.json'));
    await using sluice = await startSluice({
      bootstrap: bootstrapOf(control.port, socket, GRPC),
    });
    await waitUntil('the cluster', async () => await knows(sluice, 'up'));
    await sluice.waitForStat('cluster.control.ssl.handshake', (value) => value === 1);
    // It waited for its certificate.
    assert.equal(await sluice.stat('cluster_manager.cds.update_failure'), 0);
    assert.equal(control.requests[0]?.metadata['x-token'], 'secret');
    assert.deepEqual(control.requests[0].metadata['x-raw-bin'], Buffer.from('AAEC'));
  });

  it('is spoken to by google_grpc over mutual TLS, with the credentials of calls', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const { cert, key } = authority.issue('server', 'DNS:localhost');
    const client = authority.issue('client', 'DNS:client.test');
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
    await using control = await startControlPlane(
      ServerCredentials.createSsl(Buffer.from(authority.cert), [pair], true),
    );
    control.set('cluster.v3.Cluster', 'c1', [CLUSTER]);
    const google_grpc = {
      target_uri: `localhost:${control.port}`,
      stat_prefix: 'xds:1',
      channel_credentials: {
        ssl_credentials: {
          root_certs: { filename: authority.certPath },
          private_key: { filename: client.keyPath },
          cert_chain: { filename: client.certPath },
        },
      },
      call_credentials: [{ access_token: 'first' }, { access_token: 'second' }],
    };
    const api = { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: [{ google_grpc }] };
    await using sluice = await startSluice({
      bootstrap: bootstrapOf(control.port, tlsSocket(authority, 'unused.test'), {
        ...GRPC,
        ads_config: api,
      }),
    });
    await waitUntil('the cluster', async () => await knows(sluice, 'up'));
    assert.equal(control.requests[0]?.metadata['authorization'], 'Bearer first');
    assert.equal(await sluice.stat('grpc.xds_1.streams_total'), 1);
    control.drop();
    await sluice.waitForStat('grpc.xds_1.streams_closed_0', (count) => count === 1);
  });

  it('is not spoken to when its certificate is for another name', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const { cert, key } = authority.issue('server', 'DNS:control.test');
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
    await using control = await startControlPlane(ServerCredentials.createSsl(null, [pair]));
    control.set('cluster.v3.Cluster', 'c1', [CLUSTER]);
    await using sluice = await startSluice({
      bootstrap: bootstrapOf(control.port, tlsSocket(authority, 'other.test'), GRPC),
    });
    assert.ok(!(await knows(sluice, 'up')));
    await sluice.waitForStat('cluster.control.ssl.fail_verify_san', (count) => count >= 1);
    assert.equal(control.requests.length, 0);
  });

  it('is asked by REST over mutual TLS', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    const { cert, key } = authority.issue('server', 'DNS:control.test');
    const names: unknown[] = [];
    const server = createServer(
      { cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true },
      (request, response) => {
        names.push((request.socket as { servername?: unknown }).servername);
        response.end(JSON.stringify({ version_info: '1', resources: [CLUSTER] }));
      },
    );
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    try {
      await using sluice = await startSluice({
        bootstrap: bootstrapOf(port, tlsSocket(authority, 'control.test'), REST),
      });
      await waitUntil('the cluster', async () => await knows(sluice, 'up'));
      assert.equal(names[0], 'control.test');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
