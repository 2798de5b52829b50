/** `--legacy-admin`: the admin interface for tools that were written for Envoy's first releases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMIN, startSluice } from '../../support/programs/sluice.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { makeScratch } from '../../support/scratch.ts';

const ROUTE = { match: { prefix: '/' }, direct_response: { status: 200 } };
const LINE = /^envoy [^ ]+\/RELEASE (live|draining) \d+ \d+ 0\n$/;

test('GET changes the server with a warning, routes are dumped, states are live and draining', async () => {
  using scratch = makeScratch();
  moveIntoPlace(scratch, 'rds.json', {
    version: 'r7',
    resources: [resource.routes('rc', [ROUTE])],
  });
  const rds = { config_source: fileSource(scratch.file('rds.json')), route_config_name: 'rc' };
  const listeners = [httpListener([], { hcm: { route_config: undefined, rds } })];
  await using sluice = await startSluice({
    scratch,
    args: ['--legacy-admin'],
    bootstrap: { node: { id: 't', cluster: 't' }, admin: ADMIN, static_resources: { listeners } },
  });
  await sluice.settled();
  const tables = JSON.parse((await sluice.admin('/routes')).body) as readonly Table[];
  assert.deepEqual(
    tables.map((table) => [table.version_info, table.route_config_name]),
    [['r7', 'rc']],
  );
  assert.deepEqual(Object.keys(tables[0]?.route_table_dump ?? {}), [
    '@type',
    'name',
    'virtual_hosts',
  ]);
  assert.equal((await sluice.admin('/routes?route_config_name=other')).body, '[]\n');

  assert.equal((await sluice.admin('/ready')).body, 'live\n');
  assert.match((await sluice.admin('/server_info')).body, LINE);
  assert.match((await sluice.admin('/server_info?format=json')).body, /"state": "LIVE"/);
  const failed = await sluice.admin('/healthcheck/fail');
  assert.deepEqual([failed.status, failed.body.split('\n')[0]], [200, 'OK']);
  assert.match(failed.body, /\nwarning: .*use POST\n$/);
  assert.match(String(failed.headers['warning']), /^299 /);
  assert.match(
    sluice.stderr(),
    /\[warning\]\[admin\].* \/healthcheck\/fail was asked for with GET/,
  );
  const draining = await sluice.admin('/ready');
  assert.deepEqual([draining.status, draining.body], [503, 'draining\n']);
  assert.equal(LINE.exec((await sluice.admin('/server_info')).body)?.[1], 'draining');

  const posted = await sluice.admin({ path: '/healthcheck/ok', method: 'POST' });
  assert.deepEqual([posted.body, posted.headers['warning']], ['OK\n', undefined]);
  const foreign = { path: '/healthcheck/fail', headers: { 'sec-fetch-site': 'cross-site' } };
  assert.equal((await sluice.admin(foreign)).status, 403);
  assert.equal((await sluice.admin('/ready')).body, 'live\n');
});

interface Table {
  readonly version_info: string;
  readonly route_config_name: string;
  readonly route_table_dump: object;
}

test('without route tables from elsewhere there is no /routes, nor any of it without the option', async () => {
  const admin = { node: { id: 't', cluster: 't' }, admin: ADMIN };
  await using old = await startSluice({
    args: ['--legacy-admin', '--admin-read-only'],
    bootstrap: admin,
  });
  assert.equal((await old.admin('/routes')).status, 404);
  assert.equal((await old.admin('/quitquitquit')).status, 403);
  await using sluice = await startSluice({ bootstrap: admin });
  assert.equal((await sluice.admin('/quitquitquit')).status, 400);
  assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
});
