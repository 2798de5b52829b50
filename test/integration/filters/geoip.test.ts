import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { geoDatabase } from '../../support/geo-database.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const scratch = makeScratch();
const city = scratch.file('city.mmdb');
const asn = scratch.file('asn.mmdb');

const germany = {
  country: { iso_code: 'DE' },
  city: { names: { de: 'Köln', en: 'Cologne' } },
  subdivisions: [{ iso_code: 'NW' }, { iso_code: 'XX' }],
};

function provider(databases: object): object {
  const keys = { country: 'x-country', city: 'x-city', region: 'x-region', asn: 'x-asn' };
  return {
    name: 'maxmind',
    typed_config: {
      '@type': `${TYPE}.geoip_providers.maxmind.v3.MaxMindConfig`,
      common_provider_config: { geo_field_keys: keys },
      ...databases,
    },
  };
}

function geoip(
  fields: object,
  databases: object = { city_db_path: city, asn_db_path: asn },
): object {
  const type = { '@type': `${TYPE}.filters.http.geoip.v3.Geoip` };
  return { name: 'geoip', typed_config: { ...type, provider: provider(databases), ...fields } };
}

function listener(geo: object): object {
  const router = {
    name: 'router',
    typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
  };
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  return httpListener(routes, { hcm: { http_filters: [geo, router] } });
}

const LOG = '%FILTER_STATE(envoy.geoip:PLAIN)% %FILTER_STATE(envoy.geoip:FIELD:x-country)%\n';
const log = scratch.file('log');

const tcp = {
  name: 'tcp',
  address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
  filter_chains: [
    {
      filters: [
        {
          name: 'geoip',
          typed_config: {
            '@type': `${TYPE}.filters.network.geoip.v3.Geoip`,
            stat_prefix: 'net.',
            provider: provider({ city_db_path: city }),
          },
        },
        {
          name: 'tcp',
          typed_config: {
            '@type': `${TYPE}.filters.network.tcp_proxy.v3.TcpProxy`,
            stat_prefix: 'tcp',
            cluster: 'up',
            access_log: [
              {
                name: 'file',
                typed_config: {
                  '@type': `${TYPE}.access_loggers.file.v3.FileAccessLog`,
                  path: log,
                  log_format: { text_format_source: { inline_string: LOG } },
                },
              },
            ],
          },
        },
      ],
    },
  ],
};

describe('geoip', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;

  before(async () => {
    const networks = { '10.1.0.0/16': germany, '127.0.0.0/8': { country: { iso_code: 'LO' } } };
    writeFileSync(city, geoDatabase('City', networks));
    writeFileSync(asn, geoDatabase('ASN', { '10.1.2.0/24': { autonomous_system_number: 64_500 } }));
    upstream = await startHttpUpstream();
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [listener(geoip({ xff_config: { xff_num_trusted_hops: 1 } })), tcp],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
    scratch[Symbol.dispose]();
  });

  /** What the host is told of a client behind these proxies. */
  async function told(forwardedFor: string): Promise<readonly (string | undefined)[]> {
    const port = await sluice.listenerPort('web');
    await fetchOnce({ port, headers: { 'x-forwarded-for': forwardedFor, 'x-city': 'Nowhere' } });
    const { headers = {} } = upstream.requests.at(-1) ?? {};
    return ['x-country', 'x-city', 'x-region', 'x-asn'].map((name) => headers[name]?.toString());
  }

  it('tells the host what is known of the client that a trusted proxy names', async () => {
    assert.deepEqual(await told('10.9.9.9, 10.1.2.3, 1.1.1.1'), ['DE', 'Cologne', 'NW', '64500']);
    assert.deepEqual(await told('10.1.9.9, 1.1.1.1'), ['DE', 'Cologne', 'NW', undefined]);
  });

  it('leaves the request alone where nothing is known', async () => {
    assert.deepEqual(await told('10.9.9.9, 1.1.1.1'), [undefined, 'Nowhere', undefined, undefined]);
  });

  it('takes the connection where the header names nobody', async () => {
    assert.deepEqual(await told('not an address'), ['LO', 'Nowhere', undefined, undefined]);
  });

  it('counts by database', async () => {
    assert.equal(await sluice.stat('http.web.geoip.total'), 4);
    assert.equal(await sluice.stat('http.web.maxmind.city_db.hit'), 3);
    assert.equal(await sluice.stat('http.web.maxmind.city_db.lookup_error'), 1);
    assert.equal(await sluice.stat('http.web.maxmind.asn_db.hit'), 1);
    assert.equal(await sluice.stat(`maxmind.city_db.${city}.db_build_epoch`), 1_700_000_000);
  });

  it('keeps what is known of a connection for its access log', async () => {
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await client.closed();
    const text = await waitUntil('the log', () =>
      existsSync(log) ? readFileSync(log, 'utf8') || undefined : undefined,
    );
    assert.equal(text, '{"x-country":"LO"} LO\n');
  });

  it('takes a database that is moved into its place, and keeps its own when that is none', async () => {
    const next = scratch.file('next.mmdb');
    writeFileSync(next, geoDatabase('City', { '10.1.0.0/16': { country: { iso_code: 'FR' } } }));
    renameSync(next, city);
    await waitUntil('the new database', async () =>
      (await told('10.1.2.3, 1.1.1.1'))[0] === 'FR' ? true : undefined,
    );
    writeFileSync(next, 'no database');
    renameSync(next, city);
    const name = `maxmind.city_db.${city}.db_reload_error`;
    await sluice.waitForStat(name, (count) => count === 1);
    assert.equal((await told('10.1.2.3, 1.1.1.1'))[0], 'FR');
  });

  it('refuses files that are no databases, with the reason', async () => {
    const broken = scratch.file('broken.mmdb');
    writeFileSync(broken, 'nothing');
    const reasons = [
      [broken, 'The MaxMind DB file contains invalid metadata'],
      [scratch.file('none.mmdb'), 'Error opening the specified MaxMind DB file'],
    ] as const;
    for (const [path, reason] of reasons) {
      const file = scratch.file('bootstrap.json');
      const listeners = [listener(geoip({}, { city_db_path: path }))];
      const clusters = [staticCluster('up', [upstream.port])];
      writeFileSync(file, JSON.stringify(bootstrap({ listeners, clusters })));
      const { stderr, code } = await runSluice(['--mode', 'validate', '-c', file]);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`Unable to open Maxmind database file ${path}. Error ${reason}`));
    }
  });
});
