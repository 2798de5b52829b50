/** What Sluice has beyond Envoy's pages leaves these as they are, and the bytes of answers: while it is not used, and after. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

/** Envoy's pages that do not move by themselves. */
const PAGES = [
  '/clusters',
  '/config_dump?include_eds',
  '/listeners?format=json',
  '/runtime',
  '/certs',
  '/init_dump',
  '/drain_status',
];
/** What requests, questions to the admin interface and time itself change. */
const MOVING =
  /^(?:server\.|main_thread|workers|filesystem\.|http\.(?:admin|async-client)\.|listener\.admin\.|sluice\.(?!tap|connections))|_(?:ms|bytes)\b|(?:_rq|_cx|rq)_(?!active)|per_socket_event/;

/**
 * Counts of requests on the page of clusters; what orders for hosts have changed stays counted; a
 * supervisor that was held up for long says so from then on.
 */
const APART =
  /^\/clusters: .*::(?:rq|cx)_|sluice[._]host_orders|cluster_updated|sluice[._]main_thread/;

function differences(some: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] {
  return [
    ...[...some].filter((line) => !others.has(line)),
    ...[...others].filter((line) => !some.has(line)),
  ];
}

type Use = (sluice: Sluice) => Promise<void>;

const get =
  (...paths: readonly string[]): Use =>
  async (sluice) => {
    for (const path of paths) assert.equal((await sluice.admin(path)).status, 200, path);
  };

describe('what Envoy does not have', () => {
  let scratch: Scratch;
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let host: string;
  /** A request, as it was answered and as it was logged. */
  let first: { readonly seen: object; readonly pages: ReadonlySet<string> };

  const logged = (): readonly string[] => readFileSync(scratch.file('log'), 'utf8').split('\n');

  /** One request, and its line of the access log. */
  async function request(): Promise<object> {
    const lines = logged().length;
    const port = await sluice.listenerPort('web');
    const { status, body, rawHeaders } = await fetchOnce({ port, path: '/a?b=c' });
    await waitUntil('its line', () => logged().length > lines);
    const fields = rawHeaders.filter((_, at) => at % 2 === 0);
    return { status, body, fields, line: logged().at(-2) };
  }

  /** Every line of every page that stays as long as nothing is changed. */
  async function pages(): Promise<ReadonlySet<string>> {
    await sluice.settled();
    const lines: string[] = [];
    const take = (page: string, text: string): void => {
      lines.push(...text.split('\n').map((line) => `${page}: ${line}`));
    };
    for (const path of PAGES) take(path, (await sluice.admin(path)).body);
    take('/logging', (await sluice.admin({ path: '/logging', method: 'POST' })).body);
    const stats = (await sluice.admin('/stats')).body.split('\n');
    lines.push(...stats.map((line) => `statistic ${line.split(':')[0]}`));
    lines.push(...stats.filter((line) => !MOVING.test(line)));
    const metrics = (await sluice.admin('/stats/prometheus')).body.split('\n');
    lines.push(...metrics.map((line) => `metric ${line.replace(/ \S+$/, '')}`));
    return new Set(lines.filter((line) => !APART.test(line)));
  }

  before(async () => {
    scratch = makeScratch();
    upstream = await startHttpUpstream();
    host = `127.0.0.1:${upstream.port}`;
    const file = {
      path: scratch.file('log'),
      log_format: {
        text_format_source: {
          inline_string: '%REQ(:METHOD)% %RESPONSE_CODE% %RESPONSE_FLAGS% %UPSTREAM_CLUSTER%\n',
        },
      },
    };
    const type = 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog';
    const access_log = [{ name: 'file', typed_config: { '@type': type, ...file } }];
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(routes, { hcm: { access_log } })],
        clusters: [staticCluster('up', [upstream.port])],
      }),
      // Lines of the access log are there at once.
      args: ['--file-flush-interval-msec', '10'],
      scratch,
    });
    // Questions have statistics of their own, which are there from the first on.
    await request();
    await pages();
    first = { seen: await request(), pages: await pages() };
  });
  after(async () => {
    await sluice?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  const order = async (path: string): Promise<void> => {
    const { status, body } = await sluice.admin({ path, method: 'POST' });
    assert.equal(status, 200, `${path}: ${body}`);
  };

  const USES: readonly (readonly [feature: string, use: Use])[] = [
    ['explain', get('/explain?method=GET&url=http://a.test/a')],
    [
      'history',
      get(
        '/config_history?format=json',
        '/config_dump?format=yaml',
        '/config_dump?format=bootstrap',
      ),
    ],
    [
      'orders for hosts',
      async () => {
        await order(`/hosts/state?cluster=up&host=${host}&state=drain&weight=7&ttl=600`);
        assert.match((await sluice.admin('/clusters')).body, /::weight::7\n/);
        await order(`/hosts/state?cluster=up&host=${host}&state=up`);
        await get('/hosts')(sluice);
      },
    ],
    [
      'connections',
      async () => {
        await get('/connections?format=json')(sluice);
        await order('/connections/close?client=192.0.2.1');
      },
    ],
    [
      'levels for a time',
      async () => {
        await order('/logging?paths=http:debug&for=600');
        await order('/logging?paths=http:info');
      },
    ],
    [
      'one request in the log',
      async () => {
        await order('/logging/trace?path=/nosuch');
        await order('/logging/trace?off');
      },
    ],
    ['a tap', async () => await order('/tap/listen?for=1&path=/nosuch')],
    ['OpenMetrics and changes', get('/stats/prometheus?format=openmetrics', '/stats?since=now')],
    ['the console', get('/')],
  ];

  for (const [feature, use] of USES) {
    it(`leaves everything as it is: ${feature}`, async () => {
      await use(sluice);
      assert.deepEqual(await request(), first.seen);
      const now = await pages();
      assert.deepEqual(differences(now, first.pages), []);
    });
  }
});
