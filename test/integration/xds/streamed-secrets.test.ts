import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adsBootstrap } from '../../support/peers/ads-bootstrap.ts';
import { GREETING, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import { startControlPlane } from '../../support/peers/control-plane.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { makeScratch } from '../../support/scratch.ts';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import {
  askSecurely,
  certificateFiles,
  secretMessage,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { waitUntil } from '../../support/wait.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';

function inline({ cert, key }: Pick<TestCertificate, 'cert' | 'key'>): object {
  return secretMessage('server', {
    tls_certificate: {
      certificate_chain: { inline_string: cert },
      private_key: { inline_string: key },
    },
  });
}

describe('secrets from a control plane', () => {
  for (const [apiType, isAggregated] of [
    ['GRPC', true],
    ['DELTA_GRPC', true],
    ['DELTA_GRPC', false],
  ] as const) {
    const how = `${apiType}, ${isAggregated ? 'aggregated' : 'by themselves'}`;
    it(`hold a listener back, are renewed, and are refused by the reason over ${how}`, async () => {
      using scratch = makeScratch();
      const authority = makeAuthority(scratch.path);
      const first = authority.issue('first', 'DNS:first.test');
      const second = authority.issue('second', 'DNS:second.test');
      await using control = await startControlPlane();
      control.set(SECRET, '1', [inline(first)]);
      const api = {
        api_type: apiType,
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'control' } }],
      };
      const source = {
        resource_api_version: 'V3',
        ...(isAggregated ? { ads: {} } : { api_config_source: api }),
      };
      const configs = [{ name: 'server', sds_config: source }];
      const context = { common_tls_context: { tls_certificate_sds_secret_configs: configs } };
      await using sluice = await startSluice({
        concurrency: 2,
        bootstrap: {
          node: { id: 'me', cluster: 'mine' },
          admin: ADMIN,
          static_resources: {
            clusters: [staticCluster('control', [control.port])],
            listeners: [secureListener(GREETING, tlsSocket('Downstream', context))],
          },
          ...(isAggregated ? { dynamic_resources: { ads_config: api } } : {}),
        },
      });
      const port = await sluice.listenerPort('web');
      assert.equal((await askSecurely(port)).name, 'first');
      assert.equal(await sluice.stat('sds.server.update_success'), 1);

      control.set(SECRET, '2', [inline({ cert: second.cert, key: first.key })]);
      const refusal = await waitUntil('the refusal', () =>
        control.requests.find(({ error_detail: detail }) => detail !== undefined),
      );
      assert.notEqual(refusal.error_detail?.message, '');
      assert.equal((await askSecurely(port)).name, 'first');

      control.set(SECRET, '3', [inline(second)]);
      await waitUntil(
        'the new certificate',
        async () => (await askSecurely(port)).name === 'second',
      );
      const { body } = await sluice.admin('/config_dump?resource=dynamic_active_secrets');
      assert.match(body, /"last_updated"/);
      assert.doesNotMatch(body, /PRIVATE KEY/);
    });
  }

  it('come by a cluster that discovery brings', async () => {
    using scratch = makeScratch();
    const pair = makeAuthority(scratch.path).issue('first', 'DNS:first.test');
    await using control = await startControlPlane();
    control.set(SECRET, '1', [inline(pair)]);
    const cluster = resource.cluster(staticCluster('later', [control.port]));
    moveIntoPlace(scratch, 'clusters.json', { version: '1', resources: [cluster] });
    const source = {
      resource_api_version: 'V3',
      api_config_source: {
        api_type: 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'later' } }],
      },
    };
    const configs = [{ name: 'server', sds_config: source }];
    const context = { common_tls_context: { tls_certificate_sds_secret_configs: configs } };
    await using sluice = await startSluice({
      bootstrap: {
        node: { id: 'me', cluster: 'mine' },
        admin: ADMIN,
        static_resources: {
          listeners: [secureListener(GREETING, tlsSocket('Downstream', context))],
        },
        dynamic_resources: { cds_config: fileSource(scratch.file('clusters.json')) },
      },
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await askSecurely(port)).name, 'first');
  });

  it('are also the keys of session tickets, which stay when they are taken away', async () => {
    using scratch = makeScratch();
    const pair = makeAuthority(scratch.path).issue('first', 'DNS:first.test');
    await using control = await startControlPlane();
    const tickets = (fill: number, bytes = 80): object => {
      const key = { inline_bytes: Buffer.alloc(bytes, fill).toString('base64') };
      return secretMessage('tickets', { session_ticket_keys: { keys: [key] } });
    };
    control.set(SECRET, '1', [tickets(1)]);
    const context = {
      common_tls_context: { tls_certificates: [certificateFiles(pair)] },
      session_ticket_keys_sds_secret_config: {
        name: 'tickets',
        sds_config: { ads: {}, resource_api_version: 'V3' },
      },
    };
    const bootstrap = adsBootstrap(control.port, { apiType: 'DELTA_GRPC' }) as {
      readonly static_resources: object;
    };
    const listeners = [secureListener(GREETING, tlsSocket('Downstream', context))];
    control.set('listener.v3.Listener', '1', []);
    await using sluice = await startSluice({
      concurrency: 2,
      bootstrap: {
        ...bootstrap,
        static_resources: { ...bootstrap.static_resources, listeners },
      },
    });
    const port = await sluice.listenerPort('web');
    const { session } = await askSecurely(port);
    assert.ok(session !== undefined);
    const isResumed = async (): Promise<boolean> => {
      const exchange = await askSecurely(port, { session });
      assert.match(exchange.text, /hi$/);
      return exchange.isReused;
    };
    assert.ok(await isResumed());

    control.set(SECRET, '2', [tickets(1, 10)]);
    const refusal = await waitUntil('the refusal', () =>
      control.requests.find(({ error_detail: detail }) => detail !== undefined),
    );
    assert.match(refusal.error_detail?.message ?? '', /Length 10, expected length 80/);
    control.set(SECRET, '3', []);
    await sluice.waitForStat('sds.tickets.update_success', (count) => count === 2);
    assert.ok(await isResumed());

    control.set(SECRET, '4', [tickets(2)]);
    await sluice.waitForStat('sds.tickets.update_success', (count) => count === 3);
    assert.ok(!(await isResumed()));
  });
});
