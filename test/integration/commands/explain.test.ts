/** What `/explain` and `sluice explain` say is what clients then get. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { ExplainedChange, Explanation } from '../../../shared/explain/explanation.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const ROUTES = [
  {
    name: 'beta',
    match: { prefix: '/', headers: [{ name: 'x-beta', string_match: { exact: '1' } }] },
    direct_response: { status: 201, body: { inline_string: 'beta' } },
  },
  {
    name: 'api',
    match: { path_separated_prefix: '/api' },
    route: { cluster: 'api', prefix_rewrite: '/v2', timeout: '3s', host_rewrite_literal: 'inner' },
    request_headers_to_add: [{ header: { key: 'x-from', value: '%REQ(x-who)%' } }],
  },
  { name: 'gone', match: { prefix: '/gone' }, route: { cluster_header: 'x-cluster' } },
  { name: 'empty', match: { prefix: '/empty' }, route: { cluster: 'empty' } },
  {
    name: 'old',
    match: { safe_regex: { regex: '/old/[0-9]+' } },
    redirect: { path_redirect: '/new' },
  },
];

interface Asked {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

const REQUESTS: readonly Asked[] = [
  { path: '/api/a?b=c', headers: { 'x-who': 'ada' } },
  { path: '/api' },
  { path: '/apix' },
  { path: '/', headers: { 'x-beta': '1' } },
  { path: '/', headers: { 'x-beta': '2' } },
  { path: '/gone', headers: { 'x-cluster': 'nowhere' } },
  { path: '/gone', headers: { 'x-cluster': 'api' } },
  { path: '/empty' },
  { path: '/old/12' },
  { path: '/old/x' },
  { path: '/api', headers: { upgrade: 'websocket', connection: 'upgrade' } },
];

function question({ path, headers = {}, method = 'GET' }: Asked): string {
  const all = Object.entries(headers).map(
    ([name, value]) => `&header=${encodeURIComponent(`${name}: ${value}`)}`,
  );
  return `url=${encodeURIComponent(`http://shop${path}`)}&method=${method}${all.join('')}`;
}

/** What a host is told of a name, after the changes. */
function changedTo(
  changes: readonly ExplainedChange[] | undefined,
  name: string,
): string | undefined {
  return changes?.find((change) => change.name === name)?.after;
}

type SeenRequest = HttpUpstream['requests'][number];

/** What came at the host is what the explanation said. */
function checkArrived(
  { path, headers }: SeenRequest,
  asked: Asked,
  changes: readonly ExplainedChange[] | undefined,
): void {
  assert.equal(path, changedTo(changes, ':path') ?? asked.path);
  assert.equal(headers['host'], changedTo(changes, ':authority') ?? 'shop');
  assert.equal(headers['x-from'], changedTo(changes, 'x-from'));
}

describe('an explanation', () => {
  const scratch = makeScratch();
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;
  let config: object;

  before(async () => {
    upstream = await startHttpUpstream();
    config = bootstrap({
      listeners: [httpListener(ROUTES)],
      clusters: [staticCluster('api', [upstream.port]), staticCluster('empty', [])],
    });
    sluice = await startSluice({ bootstrap: config });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice.stop();
    await upstream[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  const explain = async (asked: Asked): Promise<Explanation> => {
    const { status, body } = await sluice.admin(`/explain?format=json&${question(asked)}`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as Explanation;
  };

  for (const asked of REQUESTS) {
    it(`tells what becomes of ${JSON.stringify(asked)}`, async () => {
      const { end, action, cluster } = await explain(asked);
      const headers = { host: 'shop', ...asked.headers };
      const earlier = upstream.requests.length;
      const answer = await fetchOnce({ port, ...asked, headers });
      assert.equal(answer.status, end?.status ?? action?.status ?? 200);
      assert.equal(answer.headers['location'], action?.location);
      const arrived = upstream.requests.slice(earlier);
      assert.equal(arrived.length, cluster !== undefined && end === undefined ? 1 : 0);
      if (arrived[0] !== undefined) checkArrived(arrived[0], asked, action?.changes);
      if (end === undefined && cluster !== undefined) {
        assert.deepEqual(
          cluster.hosts.map(({ mayBeChosen }) => mayBeChosen),
          [true],
        );
      }
    });
  }

  it('is the same by the bootstrap alone', async () => {
    const path = scratch.file('bootstrap.json');
    writeFileSync(path, JSON.stringify(config));
    for (const asked of REQUESTS.slice(0, 4)) {
      const { request: _, ...byServer } = await explain(asked);
      const headers = Object.entries(asked.headers ?? {}).flatMap((each) => [
        '-H',
        each.join(': '),
      ]);
      const words = [
        'explain',
        '-c',
        path,
        '--format',
        'json',
        ...headers,
        `http://shop${asked.path}`,
      ];
      const { code, stdout, stderr } = await runSluice(words);
      assert.equal(code, 0, stderr);
      const { request: _own, ...byFile } = JSON.parse(stdout) as Explanation;
      const listener = byServer.listener && { ...byServer.listener, addresses: ['127.0.0.1:0'] };
      assert.deepEqual(byFile, { ...byServer, listener });
    }
  });

  it('counts nothing and leaves no trace', async () => {
    const shown = async (): Promise<string> =>
      await sluice.stats(
        'filter=^(http.web|cluster|vhost).*(rq_(total|completed|.xx|direct_response|redirect)|no_(route|cluster))$',
      );
    const earlier = await shown();
    for (const asked of REQUESTS) await explain(asked);
    assert.equal(await shown(), earlier);
  });

  const refused: readonly [query: string, text: RegExp][] = [
    ['', /url=/],
    ['url=ftp://a', /no address/],
    ['url=http://a/&client=me', /no IP address/],
    ['url=http://a/&header=x', /no header/],
  ];
  for (const [query, text] of refused) {
    it(`is refused for ${query === '' ? 'nothing' : query}`, async () => {
      const { status, body } = await sluice.admin(`/explain?${query}`);
      assert.equal(status, 400);
      assert.match(body, text);
    });
  }

  it('says which listeners there are when none is meant', async () => {
    const { body } = await sluice.admin('/explain?url=http://a/&listener=constructor');
    assert.match(body, /there is no listener constructor; there are: web/);
  });
});
