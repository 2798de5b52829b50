/** The filter transform through the whole program; every value is Envoy's for the same messages. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce, type Answer } from '../../support/peers/http-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { errorsOf } from '../../unit/supervisor/resources/resolve-text.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const BODY = '{"model":"gpt","n":12,"a":{"b":1.5,"d":[1,2]},"x":null}';

const append = (key: string, value: string): object => ({
  append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
});
const changed = (action: string, json_format: object, ...headers_mutations: object[]): object => ({
  headers_mutations,
  body_transformation: { action, body_format: { json_format } },
});

const ROUTES: Readonly<Record<string, object>> = {
  '/merge': {
    request_transformation: changed(
      'MERGE',
      { model: 'new', from: '%REQUEST_BODY(n)%', h: '%REQ(x-in)%' },
      append('x-model', '%REQUEST_BODY(model):1%'),
      append('x-nest', '%REQUEST_BODY(a:b)%'),
      append('x-object', '%REQUEST_BODY(a)%'),
      append('x-null', '%REQUEST_BODY(x)%'),
      append('x-all', '%REQUEST_BODY()%'),
      append('x-mix', '<%REQUEST_BODY(none)%>'),
    ),
  },
  '/replace': {
    request_transformation: changed('REPLACE', {
      s: '%REQUEST_BODY(a)%',
      mix: 'm-%REQUEST_BODY(n)%',
      none: '%REQUEST_BODY(z)%',
      list: [1, '%REQUEST_BODY(model)%'],
    }),
  },
  '/answer': {
    request_transformation: { headers_mutations: [{ remove: 'x-in' }] },
    response_transformation: changed(
      'MERGE',
      { added: '%RESPONSE_CODE%' },
      append('x-asked', '%REQUEST_BODY(model)%'),
      append('x-said', '%RESPONSE_BODY(said)%'),
    ),
  },
  '/route': {
    clear_route_cache: true,
    request_transformation: { headers_mutations: [append('x-to', '%REQUEST_BODY(to)%')] },
  },
};

const transform = (settings: object = {}): object => ({
  '@type': `${TYPE}.transform.v3.TransformConfig`,
  ...settings,
});

function bootstrapTo(port: number): object {
  const routes = [
    {
      match: { prefix: '/', headers: [{ name: 'x-to', string_match: { exact: 'elsewhere' } }] },
      direct_response: { status: 299 },
    },
    ...Object.entries(ROUTES).map(([prefix, settings]) => ({
      match: { prefix },
      route: { cluster: 'up' },
      typed_per_filter_config: { transform: transform(settings) },
    })),
  ];
  const http_filters = [
    { name: 'transform', typed_config: transform() },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const listener = { per_connection_buffer_limit_bytes: 2000 };
  return bootstrap({
    listeners: [httpListener(routes, { hcm: { http_filters }, listener })],
    clusters: [staticCluster('up', [port])],
  });
}

describe('messages that are transformed by what their bodies say', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;
  before(async () => {
    upstream = await startHttpUpstream((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"said":5,"b":1}');
    });
    sluice = await startSluice({ bootstrap: bootstrapTo(upstream.port), concurrency: 1 });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await upstream.close();
  });
  const ask = (path: string, body: string, type = 'application/json'): Promise<Answer> => {
    const headers = { 'content-type': type, 'x-in': 'in' };
    return fetchOnce({ port, path, method: 'POST', headers, body });
  };

  it('get headers from members of the body, and a body with others', async () => {
    await ask('/merge', BODY, 'application/json; charset=utf-8');
    const seen = upstream.requests.at(-1);
    const { headers = {}, body } = seen ?? {};
    assert.equal(
      body,
      '{"a":{"b":1.5,"d":[1,2]},"from":12,"h":"in","model":"new","n":12,"x":null}',
    );
    assert.deepEqual(
      ['x-model', 'x-nest', 'x-object', 'x-null', 'x-all', 'x-mix'].map((name) => headers[name]),
      ['gpt', '1.5', '{"b":1.5,"d":[1,2]}', undefined, undefined, '<>'],
    );
    assert.equal(await sluice.stat('http.web..http_transform.rq_transformed'), 1);
  });

  it('get a whole body of their own', async () => {
    await ask('/replace', BODY);
    assert.equal(
      upstream.requests.at(-1)?.body,
      '{"list":[1,"gpt"],"mix":"m-12","none":null,"s":{"b":1.5,"d":[1,2]}}\n',
    );
  });

  it('are answers, too, which still know the request', async () => {
    const { headers, body } = await ask('/answer', BODY);
    assert.deepEqual([headers['x-asked'], headers['x-said']], ['gpt', '5']);
    assert.equal(body, '{"added":200,"b":1,"said":5}');
    assert.equal(upstream.requests.at(-1)?.headers['x-in'], undefined);
  });

  it('take another route', async () => {
    assert.equal((await ask('/route', '{"to":"elsewhere"}')).status, 299);
    assert.equal((await ask('/route', '{"to":"here"}')).status, 200);
  });

  for (const body of ['nope', '[1]', '"x"']) {
    it(`stay as they are where the body is ${body}`, async () => {
      await ask('/merge', body);
      assert.equal(upstream.requests.at(-1)?.body, body);
    });
  }

  it('stay as they are where the body is of another type', async () => {
    await ask('/merge', BODY, 'text/plain');
    assert.equal(upstream.requests.at(-1)?.body, BODY);
  });

  it('are refused where the body is too large to be kept', async () => {
    assert.equal((await ask('/merge', `{"model":"${'x'.repeat(3000)}"}`)).status, 413);
  });
});

describe('commands about bodies', () => {
  it('are for filters that wait for them', async () => {
    const typed_config = {
      '@type': 'type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog',
      log_format: { text_format_source: { inline_string: '%REQUEST_BODY(model)%' } },
    };
    const hcm = { access_log: [{ name: 'l', typed_config }] };
    const [error] = await errorsOf(bootstrap({ listeners: [httpListener([], { hcm })] }));
    assert.equal(error?.message, 'Not supported field in StreamInfo: REQUEST_BODY');
  });
});
