/** Descriptors that extensions make, and which limits headers tell of. Recorded from Envoy 1.40.0. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { grpcCluster, textsAt } from '../../support/peers/services/asked-services.ts';
import {
  answerCall,
  framed,
  type GrpcPeer,
  startGrpcPeer,
} from '../../support/peers/services/grpc-peer.ts';
import { CLOSED_PORT } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
};

const extension = (type: string, fields: object, name = 'ext'): object => ({
  extension: { name, typed_config: { '@type': `type.googleapis.com/${type}`, ...fields } },
});
const cel = (text: string, fields: object = {}): object =>
  extension('envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor', {
    descriptor_key: 'k',
    text,
    ...fields,
  });
const claim = (claim_name: string, fields: object = { header_name: 'x-jwt' }): object =>
  extension('envoy.extensions.rate_limit_descriptors.jwt_claim.v3.Descriptor', {
    descriptor_key: 'k',
    claim_name,
    ...fields,
  });
const header = (header_name: string): object =>
  extension('envoy.type.matcher.v3.HttpRequestHeaderMatchInput', { header_name }, 'hdr');
const G = { generic_key: { descriptor_value: 'g' } };

/** Undefined: nobody is asked. */
const CASES: readonly (readonly [actions: readonly object[], asked: string | undefined])[] = [
  [[cel('request.method')], 'k=GET'],
  [[cel('request.size + 1')], 'k=1'],
  [[cel('request.method == "GET"')], 'k=true'],
  [[cel('request.headers["zz"]'), G], undefined],
  [[cel('request.headers["zz"]', { skip_if_error: true }), G], 'generic_key=g'],
  [[header('x-a'), G], 'hdr=A generic_key=g'],
  [[header('x-none'), G], undefined],
  [[header('x-empty'), G], 'generic_key=g'],
  [[extension('envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput', {}), G], undefined],
  [[claim('sub')], 'k=me'],
  [[claim('a.b')], 'k=nest'],
  [[claim('n'), G], undefined],
  [[claim('constructor'), G], undefined],
  [[claim('zz', { header_name: 'x-jwt', skip_if_absent: true }), G], 'generic_key=g'],
  [[claim('zz', { header_name: 'x-jwt', default_value: 'D' })], 'k=D'],
  [[claim('sub', { header_name: 'x-bad', default_value: 'D' })], 'k=D'],
  [[claim('sub', { header_name: 'authorization', value_prefix: 'Bearer ' })], 'k=me'],
  [[claim('sub', { header_name: 'authorization', value_prefix: 'Other ' }), G], undefined],
  [[claim('sub', { cookie: 'tok' })], 'k=me'],
];

const part = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const PAYLOAD = { sub: 'me', a: { b: 'nest' }, n: 5 };
const TOKEN = `${part({ alg: 'RS256' })}.${part(PAYLOAD)}.${part('sig')}`;
const HEADERS = {
  'x-a': 'A',
  'x-empty': '',
  'x-jwt': TOKEN,
  'x-bad': 'no.token',
  authorization: `Bearer ${TOKEN}`,
  cookie: `a=b; tok=${TOKEN}`,
};

/** Both limits are exceeded; the first is told of where all are. */
function overLimit(): Buffer {
  const writer = new ProtoWriter();
  writer.integer(1, 2);
  for (const [perMinute, resetS] of [
    [10, 7],
    [5, 30],
  ] as const) {
    writer.message(2, () => {
      writer.integer(1, 2);
      writer.message(2, () => {
        writer.integer(1, perMinute);
        writer.integer(2, 2);
      });
      writer.message(4, () => writer.integer(1, resetS));
    });
  }
  return Buffer.from(writer.finish());
}

const limit = (option?: string): object => ({
  actions: [G],
  ...(option === undefined ? {} : { x_ratelimit_option: option }),
});
const [ON, OFF] = ['DRAFT_VERSION_03', 'OFF'];
const TOLD: readonly (readonly [limits: readonly object[], told: string | undefined])[] = [
  [[limit(ON), limit()], '10, 10;w=60'],
  [[limit(ON), limit(ON)], '10, 10;w=60, 5;w=60'],
  [[limit(), limit(ON)], undefined],
  [[limit(OFF), limit(ON)], undefined],
  [[limit(), limit()], undefined],
];

describe('a rate limit service', () => {
  let service: GrpcPeer;
  let sluice: Sluice;
  let port: number;
  before(async () => {
    service = await startGrpcPeer((call) => {
      call.stream.on('end', () => answerCall(call, framed(overLimit())));
    });
    const filter = {
      name: 'envoy.filters.http.ratelimit',
      typed_config: {
        '@type': `${TYPE}.filters.http.ratelimit.v3.RateLimit`,
        domain: 'd',
        timeout: '5s',
        enable_retry_after_header: true,
        rate_limit_service: { grpc_service: { envoy_grpc: { cluster_name: 'limits' } } },
      },
    };
    const route = (prefix: string, rate_limits: readonly object[]): object => ({
      match: { prefix },
      route: { cluster: 'up', rate_limits },
    });
    const routes = [
      ...CASES.map(([actions], index) => route(`/case-${index}-`, [{ actions }])),
      ...TOLD.map(([limits], index) => route(`/told-${index}-`, limits)),
    ];
    const listeners = [httpListener(routes, { hcm: { http_filters: [filter, ROUTER] } })];
    const clusters = [staticCluster('up', [CLOSED_PORT]), grpcCluster('limits', service.port)];
    sluice = await startSluice({ bootstrap: bootstrap({ listeners, clusters }) });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  it('is asked about what expressions, inputs and claims of tokens say', async () => {
    for (const [index, [, expected]] of CASES.entries()) {
      const seen = service.calls.length;
      await fetchOnce({ port, path: `/case-${index}-`, headers: HEADERS });
      const body = service.calls[seen]?.body();
      const keys = body && textsAt(body, [2, 1, 1]);
      const values = body && textsAt(body, [2, 1, 2]);
      const asked = keys?.map((key, at) => `${key}=${values?.[at]}`).join(' ');
      assert.equal(asked, expected, `case ${index}`);
    }
  });

  it('has headers tell of the limits that are to be told of, and when to come again', async () => {
    for (const [index, [, expected]] of TOLD.entries()) {
      const { status, headers } = await fetchOnce({ port, path: `/told-${index}-` });
      const told = [status, headers['x-ratelimit-limit'], headers['retry-after']];
      assert.deepEqual(told, [429, expected, '30'], `case ${index}`);
    }
  });
});

it('says of a local limit when to come again, by the descriptor that decided', async () => {
  const always = { default_value: { numerator: 100 } };
  const bucket = (fill_interval: string, max_tokens: number): object => ({
    token_bucket: { max_tokens, tokens_per_fill: 1, fill_interval },
  });
  const entries = [{ key: 'generic_key', value: 'g' }];
  const filter = {
    name: 'envoy.filters.http.local_ratelimit',
    typed_config: {
      '@type': `${TYPE}.filters.http.local_ratelimit.v3.LocalRateLimit`,
      stat_prefix: 'own',
      filter_enabled: always,
      filter_enforced: always,
      enable_retry_after_header: true,
      enable_x_ratelimit_headers: ON,
      ...bucket('1000s', 9),
      descriptors: [{ entries, ...bucket('700s', 1) }],
      rate_limits: [limit(OFF)],
    },
  };
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
  const listeners = [httpListener(routes, { hcm: { http_filters: [filter, ROUTER] } })];
  await using sluice = await startSluice({ bootstrap: bootstrap({ listeners, clusters: [] }) });
  const port = await sluice.listenerPort('web');
  const first = await fetchOnce({ port });
  assert.deepEqual([first.status, first.headers['retry-after']], [200, undefined]);
  const { status, headers } = await fetchOnce({ port });
  assert.deepEqual([status, headers['x-ratelimit-limit']], [429, undefined]);
  assert.match(headers['retry-after'] ?? '', /^(?:700|699)$/);
});
