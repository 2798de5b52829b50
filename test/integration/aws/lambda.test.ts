/** aws_lambda through the whole program; what functions and clients see is what Envoy lets them see. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce, type Answer, type Ask } from '../../support/peers/http-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const FUNCTION = {
  arn: 'arn:aws:lambda:us-west-2:1:function:f',
  credentials: { access_key_id: 'AK', secret_access_key: 's' },
};
const GATEWAY = { 'com.amazonaws.lambda': { egress_gateway: true } };

interface Said {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One function for all tests, which says what a request's `x-case` names. */
interface Called extends AsyncDisposable {
  readonly lambda: HttpUpstream;
  readonly sluice: Sluice;
  /** The answer, and the request as the function got it. */
  ask(said: Said, path?: string, more?: Ask): Promise<{ answer: Answer; seen: Seen }>;
}

type Seen = HttpUpstream['requests'][number];

async function startFunction(): Promise<Called> {
  const cases: Said[] = [];
  const lambda = await startHttpUpstream((request, response) => {
    const { body = '', headers = {} } = cases[Number(request.headers['x-case'])] ?? {};
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(body);
  });
  const passing = {
    '@type': `${TYPE}.aws_lambda.v3.PerRouteConfig`,
    invoke_config: { ...FUNCTION, payload_passthrough: true, invocation_mode: 'ASYNCHRONOUS' },
  };
  const routes = [
    { match: { prefix: '/plain' }, route: { cluster: 'plain' } },
    {
      match: { prefix: '/pass' },
      route: { cluster: 'lambda' },
      typed_per_filter_config: { 'envoy.filters.http.aws_lambda': passing },
    },
    { match: { prefix: '/' }, route: { cluster: 'lambda' } },
  ];
  const http_filters = [
    {
      name: 'envoy.filters.http.aws_lambda',
      typed_config: { '@type': `${TYPE}.aws_lambda.v3.Config`, ...FUNCTION },
    },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const parts = {
    listeners: [httpListener(routes, { hcm: { http_filters } })],
    clusters: [
      staticCluster('lambda', [lambda.port], { metadata: { filter_metadata: GATEWAY } }),
      staticCluster('plain', [lambda.port]),
    ],
  };
  const sluice = await startSluice({ bootstrap: bootstrap(parts), concurrency: 1 });
  const port = await sluice.listenerPort('web');
  return {
    lambda,
    sluice,
    ask: async (said, path = '/', more = {}) => {
      const name = String(cases.push(said) - 1);
      const answer = await fetchOnce({
        port,
        path,
        ...more,
        headers: { ...more.headers, 'x-case': name },
      });
      const seen = lambda.requests.find(({ headers }) => headers['x-case'] === name);
      assert.ok(seen);
      return { answer, seen };
    },
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await lambda.close();
    },
  };
}

describe('a function of AWS Lambda', () => {
  let called: Called;
  before(async () => {
    called = await startFunction();
  });
  after(() => called[Symbol.asyncDispose]());

  it('is told of the whole request, and says the whole answer', async () => {
    const body = JSON.stringify({
      status_code: 201,
      headers: { 'x-one': '1', 'content-type': 'text/css', ':status': '500', 'x-bad': 'a\r\nb: c' },
      cookies: ['a=1; HttpOnly', 'b=2'],
      body: 'aGVsbG8=',
      is_base64_encoded: true,
    });
    const headers = { 'x-a': ['1', '2'], 'content-type': 'image/png' };
    const asked = { method: 'PUT', body: '\u0001', headers };
    const { answer, seen } = await called.ask({ body }, '/a%20b?x=1&x=2&z', asked);
    assert.equal(seen.path, `/2015-03-31/functions/${FUNCTION.arn}/invocations`);
    assert.equal(seen.method, 'POST');
    assert.equal(seen.headers['x-amz-invocation-type'], 'RequestResponse');
    assert.match(seen.headers.authorization ?? '', /Credential=AK\/\d+\/us-west-2\/lambda\//);
    const { headers: told, ...rest } = JSON.parse(seen.body) as { headers: object };
    assert.deepEqual(rest, {
      raw_path: '/a%20b?x=1&x=2&z',
      method: 'PUT',
      query_string_parameters: { x: '1', z: '' },
      body: 'AQ==',
      is_base64_encoded: true,
    });
    assert.equal((told as Record<string, string>)['x-a'], '1,2');
    assert.equal(answer.status, 201);
    assert.equal(answer.body, 'hello');
    assert.equal(answer.headers['content-type'], 'text/css');
    assert.equal(answer.headers['b'], undefined);
    assert.deepEqual(answer.headers['set-cookie'], ['a=1; HttpOnly', 'b=2']);
  });

  it('is told of a request without a body, and may say next to nothing', async () => {
    const { answer, seen } = await called.ask({ body: '{}' });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, '');
    const told = JSON.parse(seen.body) as Record<string, unknown>;
    assert.equal(told['body'], '');
    assert.equal(told['is_base64_encoded'], false);
  });

  for (const bad of [
    'not json',
    '[]',
    '{"status_code":99}',
    '{"body":{}}',
    '{"headers":{"x":5}}',
  ]) {
    it(`that answers with ${bad} is an error of the server`, async () => {
      const name = 'http.web.aws_lambda.server_error';
      const errors = await called.sluice.stat(name);
      const { answer } = await called.ask({ body: bad });
      assert.deepEqual([answer.status, answer.body], [500, '']);
      await called.sluice.waitForStat(name, (value) => value === errors + 1);
    });
  }

  it('that failed says so by itself', async () => {
    const error = '{"errorMessage":"x"}';
    const headers = { 'x-amz-function-error': 'Unhandled' };
    const { answer } = await called.ask({ body: error, headers });
    assert.deepEqual([answer.status, answer.body], [200, error]);
  });

  it('gets the body alone where the route says so', async () => {
    const asked = { method: 'POST', body: 'payload' };
    const { answer, seen } = await called.ask({ body: 'as it is' }, '/pass', asked);
    assert.equal(seen.headers['x-amz-invocation-type'], 'Event');
    assert.equal(seen.body, 'payload');
    assert.equal(answer.body, 'as it is');
  });

  it('is called only through clusters that lead to functions', async () => {
    const { answer, seen } = await called.ask({ body: 'plain' }, '/plain');
    assert.equal(seen.path, '/plain');
    assert.equal(answer.body, 'plain');
  });
});
