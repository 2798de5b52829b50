/**
 * Names of a configuration, and what is asked, stand in every page of the admin interface and in
 * every line of a sink: none of them ends a line, is markup of a page, or breaks what is no text.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { receiveDatagrams, type LineReceiver } from '../../support/peers/stats-receivers.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const MARKUP = `"'><img src=x onerror=alert(1)>&`;
/** Whatever some reader takes for the end of a line stands before the same word. */
const ENDS = ['\n', '\r\n', '\r', '\v', '\f', '\x1b[2K', '\x85', '\u2028', '\u2029', '\0'];
const FORGED = ENDS.map((end) => `${end}forged: 1`).join('');
const BREAKS = /[\n\v\f\r\x85\u2028\u2029]/;

const hostile = (name: string): string => `${name}${MARKUP}${FORGED}`;

function hostileBootstrap(statsdPort: number): object {
  const locality = { region: hostile('region'), zone: hostile('zone'), sub_zone: hostile('sub') };
  const listener = { metadata: { filter_metadata: { [hostile('meta')]: {} } } };
  const route = {
    match: { prefix: '/' },
    name: hostile('route'),
    direct_response: { status: 200 },
  };
  const routes = {
    name: hostile('routes'),
    virtual_hosts: [{ name: hostile('all'), domains: ['*'], routes: [route] }],
  };
  const endpoint = (port: number): object => ({
    endpoint: {
      hostname: hostile('host'),
      address: { socket_address: { address: '127.0.0.1', port_value: port } },
    },
  });
  const assignment = {
    cluster_name: hostile('eds'),
    endpoints: [{ locality, lb_endpoints: [endpoint(1), endpoint(2)] }],
  };
  const layer = { [hostile('key')]: hostile('value') };
  return {
    admin: ADMIN,
    node: { id: hostile('node'), cluster: hostile('mine'), locality },
    layered_runtime: {
      layers: [
        { name: hostile('layer'), static_layer: layer },
        { name: 'admin', admin_layer: {} },
      ],
    },
    stats_config: {
      stats_tags: [{ tag_name: 'fixed', fixed_value: hostile('tag') }],
    },
    stats_flush_interval: '0.1s',
    stats_sinks: ['statsd', 'dog_statsd', 'graphite_statsd'].map((kind) => sink(kind, statsdPort)),
    static_resources: {
      listeners: [
        httpListener([], {
          name: hostile('listener'),
          statPrefix: hostile('prefix'),
          hcm: { route_config: routes },
          listener: { ...listener, stat_prefix: hostile('listening') },
        }),
      ],
      clusters: [
        staticCluster(hostile('cluster'), [], {
          alt_stat_name: hostile('alt'),
          load_assignment: assignment,
          track_cluster_stats: { per_endpoint_stats: true },
          outlier_detection: {},
        }),
        staticCluster(hostile('other'), [1], { track_cluster_stats: { per_endpoint_stats: true } }),
      ],
    },
  };
}

function sink(kind: string, port: number): object {
  const address = { socket_address: { protocol: 'UDP', address: '127.0.0.1', port_value: port } };
  const [name, type] = {
    statsd: ['envoy.stat_sinks.statsd', 'envoy.config.metrics.v3.StatsdSink'],
    dog_statsd: ['envoy.stat_sinks.dog_statsd', 'envoy.config.metrics.v3.DogStatsdSink'],
    graphite_statsd: [
      'envoy.stat_sinks.graphite_statsd',
      'envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink',
    ],
  }[kind] as [string, string];
  return { name, typed_config: { '@type': `type.googleapis.com/${type}`, address } };
}

const TEXT = ['/stats', '/stats?usedonly', '/stats/recentlookups', '/clusters', '/listeners'];
const JSON_PAGES = [
  '/stats?format=json',
  '/clusters?format=json',
  '/listeners?format=json',
  '/config_dump?include_eds',
  '/server_info',
  '/runtime',
  '/init_dump',
  '/certs',
  '/memory',
  '/drain_status',
];
const HTML = ['/', '/stats?format=html', '/stats?format=active-html'];
const METRICS = ['/stats/prometheus', '/stats/prometheus?text_readouts', '/stats/prometheus?help'];
const METRIC =
  /^(# (TYPE|HELP) \w+ .*|[A-Za-z_:][\w:]*(\{([A-Za-z_]\w*="([^"\\\n]|\\[\\"n])*",?)*\})? [-+\w.]+|)$/;

/** What is asked stands in answers too. */
const QUERIES = ['filter', 'format', 'name_regex', 'resource', 'mask', 'level', 'paths', 'nosuch'];
const PATHS = ['/stats', '/clusters', '/config_dump', '/logging', '/runtime_modify', '/listeners'];

describe('hostile names in pages of the admin interface', () => {
  let sluice: Sluice;
  let statsd: LineReceiver;

  before(async () => {
    statsd = await receiveDatagrams();
    sluice = await startSluice({ bootstrap: hostileBootstrap(statsd.port) });
    await sluice.admin({ method: 'POST', path: '/stats/recentlookups/enable' });
  });
  after(async () => {
    await sluice.stop();
    await statsd[Symbol.asyncDispose]();
  });

  const bodyOf = async (path: string): Promise<string> => {
    const { status, body } = await sluice.admin(path);
    assert.equal(status, 200, path);
    return body;
  };

  for (const path of TEXT) {
    it(`forge no line of ${path}`, async () => {
      const body = await bodyOf(path);
      if (path !== '/stats/recentlookups') assert.ok(body.includes('forged'), 'is it hostile?');
      forgesNoLine(body);
    });
  }

  for (const path of JSON_PAGES) {
    it(`leave ${path} JSON`, async () => void JSON.parse(await bodyOf(path)));
  }

  for (const path of HTML) {
    it(`are no markup of ${path}`, async () => isNoMarkup(await bodyOf(path)));
  }

  for (const path of METRICS) {
    it(`leave ${path} as Prometheus reads it`, async () => {
      const lines = (await bodyOf(path)).split('\n');
      assert.ok(lines.some((line) => line.includes('forged')));
      for (const line of lines) assert.match(line, METRIC);
    });
  }

  it('forge no line of a sink', async () => {
    const kinds = [/\|g$/, /\|#/, /;fixed=/];
    await waitUntil('lines of each sink', () =>
      kinds.every((kind) => statsd.received().some((text) => kind.test(text))),
    );
    for (const text of statsd.received()) {
      for (const line of text.split('\n')) {
        assert.doesNotMatch(line, /^forged/);
        assert.match(line, /^[^|\r\n]+:-?[\d.]+\|(c|g|ms|h)(\||$)|^$/);
      }
    }
  });

  it('neither as what is asked', async () => {
    for (const path of PATHS) {
      for (const name of QUERIES) {
        for (const value of [MARKUP, FORGED, `${MARKUP}${FORGED}`, `[${FORGED}`]) {
          for (const method of ['GET', 'POST'] as const) {
            const query = `${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
            const answer = await sluice.admin({ method, path: `${path}?${query}` });
            const type = String(answer.headers['content-type']);
            if (type.startsWith('text/html')) isNoMarkup(answer.body);
            else if (type.startsWith('text/plain')) forgesNoLine(answer.body);
          }
        }
      }
    }
    const foreign = await sluice.admin(`/${encodeURIComponent(hostile('nosuch'))}`);
    assert.ok(foreign.status >= 400);
    forgesNoLine(foreign.body);
  });

  it('forge no line of the log', () => {
    for (const line of sluice.stderr().split(BREAKS)) assert.doesNotMatch(line, /^\s*forged/);
  });
});

function forgesNoLine(body: string): void {
  for (const line of body.split(BREAKS)) assert.doesNotMatch(line, /^forged/);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(body, /[\0\x1b]/);
}

/** No element, and nothing that ends an attribute's value, comes from a name. */
function isNoMarkup(body: string): void {
  assert.doesNotMatch(body, /<img|onerror=alert\(1\)>/);
}
