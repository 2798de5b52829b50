/** Fields of the connection manager that change headers or count, each asked of the whole program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const DEAD = staticCluster('dead', [1]);
const TO_DEAD = { match: { prefix: '/dead' }, route: { cluster: 'dead' } };

test('answers that a failure made say which in proxy-status, the others do not', async () => {
  const status = { set_recommended_response_code: true, literal_proxy_name: 'edge' };
  const listeners = [
    httpListener([TO_DEAD, { match: { path: '/ok' }, direct_response: { status: 503 } }], {
      hcm: { proxy_status_config: status },
    }),
    httpListener([TO_DEAD], {
      name: 'short',
      hcm: { proxy_status_config: { remove_details: true }, server_name: 'own' },
    }),
  ];
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners, clusters: [DEAD] }),
  });
  const ask = async (name: string, path: string): Promise<readonly [number, unknown]> => {
    const port = await sluice.listenerPort(name);
    const answer = await fetchOnce({ port, path });
    return [answer.status, answer.headers['proxy-status']];
  };
  const refused =
    'upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}; UF';
  assert.deepEqual(
    [await ask('web', '/dead'), await ask('web', '/none'), await ask('web', '/ok')],
    [
      [502, `edge; error=connection_refused; details="${refused}"`],
      [500, 'edge; error=destination_not_found; details="route_not_found; NR"'],
      [503, undefined],
    ],
  );
  assert.deepEqual(await ask('short', '/dead'), [503, 'own; error=connection_refused']);
});

test('a destination port of the PROXY protocol tells the scheme, searches for routes are counted', async () => {
  await using upstream = await startHttpUpstream((request, response) => {
    response.end(`<${String(request.headers['x-forwarded-proto'])}>`);
  });
  const type =
    'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol';
  const hcm = {
    use_remote_address: true,
    forward_proto_config: { https_destination_ports: [443], http_destination_ports: [80, 443] },
    record_route_resolution_stats: true,
    represent_ipv4_remote_address_as_ipv4_mapped_ipv6: true,
    path_normalization_options: {},
  };
  const proxied = {
    ...httpListener([{ match: { prefix: '/up' }, route: { cluster: 'up' } }, ...GREETING], { hcm }),
    listener_filters: [
      {
        name: 'proxy_protocol',
        typed_config: { '@type': type, allow_requests_without_proxy_protocol: true },
      },
    ],
  };
  const clusters = [staticCluster('up', [upstream.port])];
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [proxied], clusters }, { stats_flush_on_admin: true }),
  });
  const port = await sluice.listenerPort('web');
  const request =
    'GET /up HTTP/1.1\r\nhost: h.test\r\nx-forwarded-proto: https\r\nconnection: close\r\n\r\n';
  const schemes: string[] = [];
  for (const head of [
    '',
    ...[443, 80, 81].map((to) => `PROXY TCP4 9.8.7.6 5.6.7.8 1000 ${to}\r\n`),
  ]) {
    const client = await openRaw(port);
    client.send(head + request);
    schemes.push(/<(.*)>/.exec(await client.closed())?.[1] ?? '');
  }
  assert.deepEqual(schemes, ['http', 'https', 'http', 'http']);
  const page = await sluice.admin('/stats?filter=route_resolutions&format=prometheus');
  assert.match(page.body, /_route_resolutions_count\{[^}]*\} 4\n/);
  assert.match(page.body, /_route_resolutions_sum\{[^}]*\} 4/);
});

test('any token is a method where custom ones are allowed, and nothing else is', async () => {
  const hcm = { http_protocol_options: { allow_custom_methods: true } };
  const listeners = [httpListener(GREETING), httpListener(GREETING, { name: 'any', hcm })];
  await using sluice = await startSluice({ bootstrap: bootstrap({ listeners }) });
  const answers: Record<string, string> = {};
  for (const name of ['web', 'any']) {
    const port = await sluice.listenerPort(name);
    for (const method of ['PURGE', 'FETCH', "~a!'", 'A(B', 'A:', '\u00e9']) {
      const client = await openRaw(port);
      client.send(`${method} / HTTP/1.1\r\nhost: h.test\r\nconnection: close\r\n\r\n`);
      answers[`${name} ${method}`] = (await client.closed()).slice(9, 12);
    }
  }
  const ofTokens = (status: string): readonly string[] => [
    '200',
    status,
    status,
    '400',
    '400',
    '400',
  ];
  assert.deepEqual(Object.values(answers), [...ofTokens('400'), ...ofTokens('200')]);
});
