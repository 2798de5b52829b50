import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { pageBootstrap, pageModules, pageYaml } from '../../support/scripts/extending-page.ts';
import { ROUTER } from '../../support/scripts/script-server.ts';
import { waitUntil } from '../../support/wait.ts';

/** What the page says of a module, with its file where this test has put it. */
function said(scratch: Scratch, name: string): object {
  const here = JSON.stringify(pageYaml(name)).replace(`"${name}"`, `"${scratch.file(name)}"`);
  return JSON.parse(here) as object;
}

interface Parts {
  readonly scratch: Scratch;
  readonly ports: Readonly<Record<'first' | 'second' | 'collector' | 'places' | 'db', number>>;
}

/** The YAML of the page in one bootstrap, as the page says where each piece stands. */
function wholeBootstrap({ scratch, ports }: Parts): object {
  const { http_filters: hash } = said(scratch, 'hash.ts') as { http_filters: object[] };
  const { access_log: logs } = said(scratch, 'slow.ts') as { access_log: object[] };
  const { filters } = said(scratch, 'own-country.ts') as { filters: object[] };
  const { clusters: balanced } = said(scratch, 'by-tenant.ts') as { clusters: object[] };
  const { clusters: found } = said(scratch, 'registry.ts') as { clusters: object[] };
  const { bootstrap_extensions: pages } = said(scratch, 'pages.ts') as {
    bootstrap_extensions: object[];
  };
  const host = (port: number, tenant: string): object => ({
    endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
    metadata: { filter_metadata: { 'envoy.lb': { tenant } } },
  });
  const lb_endpoints = [host(ports.first, 'a'), host(ports.second, 'b')];
  const routes = [
    { match: { prefix: '/found' }, route: { cluster: 'app' } },
    { match: { prefix: '/' }, route: { cluster: 'tenants' } },
  ];
  return bootstrap(
    {
      listeners: [
        httpListener(routes, { hcm: { http_filters: [...hash, ROUTER], access_log: logs } }),
        {
          name: 'tcp',
          address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
          filter_chains: [{ filters }],
        },
      ],
      clusters: [
        {
          ...balanced[0],
          name: 'tenants',
          load_assignment: { cluster_name: 'tenants', endpoints: [{ lb_endpoints }] },
        },
        ...found,
        staticCluster('collector', [ports.collector]),
        staticCluster('places', [ports.places]),
        staticCluster('db', [ports.db]),
      ],
    },
    { bootstrap_extensions: pages },
  );
}

describe('docs/extending.md', () => {
  it('has a bootstrap with which its first filter serves', async () => {
    await using upstream = await startHttpUpstream();
    const scratch = makeScratch();
    writeFileSync(scratch.file('hash.ts'), pageModules().get('hash.ts') ?? '');
    const text = JSON.stringify(pageBootstrap())
      .replace('hash.ts', () => scratch.file('hash.ts'))
      .replace(/"port_value":(?:8080|9901)/g, '"port_value":0')
      .replace('"port_value":8000', `"port_value":${upstream.port}`);
    await using sluice = await startSluice({ bootstrap: JSON.parse(text) as object, scratch });
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/one' });
    const hash = createHash('sha256').update('/one').digest('hex');
    assert.equal(upstream.requests[0]?.headers['x-hash'], hash);
    assert.match(await sluice.stats('filter=script'), /^http\.web\.script\.hash\.\S*seen: 1$/m);
  });

  it('has modules that do what it says, with the YAML beside them', async () => {
    await using first = await startHttpUpstream((_, response) => response.end('first'));
    await using second = await startHttpUpstream((_, response) => response.end('second'));
    await using collector = await startHttpUpstream();
    await using places = await startHttpUpstream((_, response) => response.end('CH'));
    await using db = await startRawUpstream((socket) => void socket.end('rows'));
    await using registry = await startHttpUpstream((_, response) =>
      response.end(JSON.stringify([{ address: '127.0.0.1', port: first.port, zone: 'z' }])),
    );
    const scratch = makeScratch();
    for (const [name, text] of pageModules()) {
      // The two numbers that this test cannot wait for, and the registry of the page.
      writeFileSync(
        scratch.file(name),
        text.replace('optional(1000)', 'optional(0)').replace('>= 100', '>= 3'),
      );
    }
    const ports = {
      first: first.port,
      second: second.port,
      collector: collector.port,
      places: places.port,
      db: db.port,
    };
    const text = JSON.stringify(wholeBootstrap({ scratch, ports }));
    const own = text.replace('http://registry.internal/app', `http://127.0.0.1:${registry.port}/`);
    await using sluice = await startSluice({ bootstrap: JSON.parse(own) as object, scratch });
    const port = await sluice.listenerPort('web');
    const get = async (path: string, headers = {}): Promise<string> =>
      (await fetchOnce({ port, path, headers })).body;
    assert.equal(await get('/one', { 'x-tenant': 'a' }), 'first');
    assert.equal(await get('/two', { 'x-tenant': 'b' }), 'second');
    assert.equal(await get('/found'), 'first');
    const hash = createHash('sha256').update('/two').digest('hex');
    assert.equal(second.requests[0]?.headers['x-hash'], hash);
    await waitUntil('the lines', () => collector.requests.length > 0);
    assert.equal(collector.requests[0]?.body.split('\n').length, 3);
    assert.match((await sluice.admin('/team?filter=downstream_cx_total')).body, /^\{"team":"web"/);
    const woken = await sluice.admin({ path: '/team/page', method: 'POST' });
    assert.equal(woken.body, 'done\n');
    const socket = connect(await sluice.listenerPort('tcp'), '127.0.0.1').setEncoding('utf8');
    let rows = '';
    for await (const piece of socket) rows += String(piece);
    assert.equal(rows, 'rows');
    assert.match(places.requests[0]?.path ?? '', /^\/of\/127\.0\.0\.1/);
  });
});
