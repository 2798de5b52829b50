import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { httpListener } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

function answering(text: string): object {
  return {
    match: { prefix: '/' },
    direct_response: { status: 200, body: { inline_string: text } },
  };
}

const TO_UP = { match: { prefix: '/' }, route: { cluster: 'up' } };

function start(scratch: Scratch, sources: object, args: readonly string[] = []): Promise<Sluice> {
  return startSluice({
    scratch,
    args,
    bootstrap: {
      node: { id: 'test', cluster: 'test' },
      admin: ADMIN,
      dynamic_resources: sources,
    },
  });
}

async function body(port: number): Promise<string> {
  return (await fetchOnce({ port, path: '/' })).body;
}

describe('resources from files', () => {
  it('serve from the start, follow every move, and keep the last good version', async () => {
    using scratch = makeScratch();
    await using one = await startHttpUpstream((_, response) => response.end('one'));
    await using two = await startHttpUpstream((_, response) => response.end('two'));
    const listener = httpListener([], {
      hcm: {
        route_config: undefined,
        rds: { config_source: fileSource(scratch.file('rds.json')), route_config_name: 'rc' },
      },
    });
    const cluster = {
      name: 'up',
      type: 'EDS',
      connect_timeout: '1s',
      eds_cluster_config: { eds_config: fileSource(scratch.file('eds.json')) },
    };
    const put = (name: string, version: string, ...resources: readonly object[]): void =>
      moveIntoPlace(scratch, name, { version, resources });
    put('lds.json', 'l1', resource.listener(listener));
    put('cds.json', 'c1', resource.cluster(cluster));
    put('eds.json', 'e1', resource.endpoints('up', [one.port]));
    put('rds.json', 'r1', resource.routes('rc', [TO_UP]));
    await using sluice = await start(scratch, {
      lds_config: fileSource(scratch.file('lds.json')),
      cds_config: fileSource(scratch.file('cds.json')),
    });
    const port = await sluice.listenerPort('web');
    assert.equal(await body(port), 'one');
    assert.match((await sluice.admin('/clusters')).body, /up::added_via_api::true/);

    put('eds.json', 'e2', resource.endpoints('up', [two.port]));
    await waitUntil('the second upstream', async () => (await body(port)) === 'two');
    put('rds.json', 'r2', resource.routes('rc', [answering('routes')]));
    await waitUntil('the second routes', async () => (await body(port)) === 'routes');

    renameSync(scratch.file('rds.json'), scratch.file('away'));
    renameSync(scratch.file('away'), scratch.file('rds.json'));
    await sluice.waitForStat('http.web.rds.rc.update_success', (count) => count >= 3);

    moveIntoPlace(scratch, 'rds.json', '{ this is no JSON');
    await sluice.waitForStat('http.web.rds.rc.update_failure', (count) => count === 1);
    put('rds.json', 'r3', { ...resource.routes('rc', []), virtual_hosts: [{ name: '' }] });
    await sluice.waitForStat('http.web.rds.rc.update_rejected', (count) => count === 1);
    assert.equal(await body(port), 'routes');
    const { body: dump } = await sluice.admin('/config_dump?resource=dynamic_route_configs');
    assert.match(dump, /"version_info": "r2"/);

    // One that is written where none was is read when it is complete.
    const path = scratch.file('rds.json');
    const later = { version_info: 'r4', resources: [resource.routes('rc', [answering('later')])] };
    const text = JSON.stringify(later);
    rmSync(path);
    await sluice.admin('/ready');
    writeFileSync(path, text.slice(0, 20));
    await sluice.admin('/ready');
    appendFileSync(path, text.slice(20));
    await waitUntil('the fourth routes', async () => (await body(port)) === 'later');
    assert.equal(await sluice.stat('http.web.rds.rc.update_failure'), 1);

    const lasting = { policy: { endpoint_stale_after: '0.1s' } };
    put('eds.json', 'e3', { ...resource.endpoints('up', [two.port]), ...lasting });
    await sluice.waitForStat('cluster.up.assignment_stale', (count) => count === 1);
    assert.equal(await sluice.stat('cluster.up.membership_total'), 0);

    put('cds.json', 'c2');
    await sluice.waitForStat('cluster_manager.active_clusters', (count) => count === 0);
    assert.equal(await sluice.stat('cluster_manager.cluster_removed'), 1);
  });

  it('of a bad update change nothing but what is good in it', async () => {
    using scratch = makeScratch();
    const put = (version: string, ...listeners: readonly object[]): void =>
      moveIntoPlace(scratch, 'lds.json', {
        version,
        resources: listeners.map(resource.listener),
      });
    const named = (name: string, text: string): object => httpListener([answering(text)], { name });
    put('1', named('a', 'first'));
    await using sluice = await start(scratch, {
      lds_config: fileSource(scratch.file('lds.json')),
    });
    const portOfA = await sluice.listenerPort('a');
    const [good, bad] = [named('good', 'good'), { ...named('bad', 'bad'), filter_chains: [] }];
    put('2', named('a', 'first'), good, bad);
    await sluice.waitForStat('listener_manager.lds.update_rejected', (count) => count === 1);
    assert.equal(await body(portOfA), 'first');
    assert.equal(await body(await sluice.listenerPort('good')), 'good');
    const { body: dump } = await sluice.admin('/config_dump?resource=dynamic_listeners');
    assert.match(dump, /"details": "error adding listener .*no filter chains specified/);
    // What was refused is shown whatever name is asked for, as in Envoy.
    const asked = await sluice.admin('/config_dump?resource=dynamic_listeners&name_regex=good');
    assert.match(asked.body, /"name": "bad",\s*"error_state"/);
    assert.doesNotMatch(asked.body, /"name": "a"/);
    put('3', good, bad);
    await sluice.waitForStat('listener_manager.listener_removed', (count) => count === 1);
    assert.equal(await sluice.stat('listener_manager.lds.update_success'), 1);
  });

  it('change a listener in its place and drain it when it is removed', async () => {
    using scratch = makeScratch();
    const put = (version: string, ...texts: readonly string[]): void =>
      moveIntoPlace(scratch, 'lds.json', {
        version,
        resources: texts.map((text) => resource.listener(httpListener([answering(text)]))),
      });
    put('1', 'first');
    await using sluice = await start(
      scratch,
      { lds_config: fileSource(scratch.file('lds.json')) },
      ['--drain-time-s', '2'],
    );
    const port = await sluice.listenerPort('web');
    put('2', 'second');
    await waitUntil('the second version', async () => (await body(port)) === 'second');
    assert.equal(await sluice.listenerPort('web'), port);
    const open = await openRaw(port);
    open.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await open.until('second');
    put('3');
    await sluice.waitForStat('listener_manager.listener_removed', (count) => count === 1);
    const { body: dump } = await sluice.admin('/config_dump?resource=dynamic_listeners');
    assert.match(dump, /"draining_state"/);
    await waitUntil('no new connections', async () => {
      try {
        await fetchOnce({ port, path: '/' });
        return false;
      } catch {
        return true;
      }
    });
    await sluice.waitForStat('listener_manager.total_listeners_draining', (count) => count === 0);
    const { body: after } = await sluice.admin('/config_dump?resource=dynamic_listeners');
    assert.doesNotMatch(after, /"draining_state"/);
    open.destroy();
  });

  it('are read again when the link to their folder is swapped', async () => {
    using scratch = makeScratch();
    const write = (version: string, text: string): void => {
      mkdirSync(scratch.file(version));
      const listener = resource.listener(httpListener([answering(text)]));
      writeFileSync(
        `${scratch.file(version)}/lds.json`,
        JSON.stringify({ version_info: version, resources: [listener] }),
      );
    };
    write('v1', 'first');
    symlinkSync('v1', scratch.file('current'));
    await using sluice = await start(scratch, {
      lds_config: fileSource(`${scratch.path}/current/lds.json`, scratch.path),
    });
    const port = await sluice.listenerPort('web');
    assert.equal(await body(port), 'first');
    write('v2', 'second');
    symlinkSync('v2', scratch.file('next'));
    renameSync(scratch.file('next'), scratch.file('current'));
    await waitUntil('the second version', async () => (await body(port)) === 'second');
  });

  it('add no listener of a direction whose listeners were told to drain', async () => {
    using scratch = makeScratch();
    const named = (name: string): object =>
      resource.listener(httpListener([answering(name)], { name }));
    moveIntoPlace(scratch, 'lds.json', { version: '1', resources: [named('a')] });
    await using sluice = await start(scratch, {
      lds_config: fileSource(scratch.file('lds.json')),
    });
    await sluice.admin({ method: 'POST', path: '/drain_listeners?inboundonly' });
    const directed = (name: string, direction: string): object => ({
      ...named(name),
      traffic_direction: direction,
    });
    const resources = [named('a'), directed('in', 'INBOUND'), directed('out', 'OUTBOUND')];
    moveIntoPlace(scratch, 'lds.json', { version: '2', resources });
    await sluice.waitForStat('listener_manager.lds.update_success', (count) => count === 2);
    assert.equal(await sluice.stat('listener_manager.listener_added'), 2);
    assert.match((await sluice.admin('/listeners')).body, /^out::/m);
    await sluice.admin({ method: 'POST', path: '/drain_listeners' });
    moveIntoPlace(scratch, 'lds.json', { version: '3', resources: [...resources, named('b')] });
    await sluice.waitForStat('listener_manager.lds.update_success', (count) => count === 3);
    assert.equal(await sluice.stat('listener_manager.listener_added'), 2);
  });

  it('take the good clusters of a refused update and remove those that it leaves out', async () => {
    using scratch = makeScratch();
    const put = (version: string, ...clusters: readonly object[]): void => {
      const resources = clusters.map((each) =>
        resource.cluster({ connect_timeout: '1s', ...each }),
      );
      moveIntoPlace(scratch, 'cds.json', { version, resources });
    };
    put('1', { name: 'stays', type: 'STATIC' }, { name: 'goes', type: 'STATIC' });
    await using sluice = await start(scratch, {
      cds_config: fileSource(scratch.file('cds.json')),
    });
    const bad = { name: 'bad', type: 'EDS' };
    put('2', { name: 'stays', type: 'STATIC' }, { name: 'comes', type: 'STATIC' }, bad);
    await sluice.waitForStat('cluster_manager.cds.update_rejected', (count) => count === 1);
    const { body: names } = await sluice.admin('/config_dump?mask=dynamic_active_clusters');
    assert.match(names, /"stays"[^]*"comes"/);
    assert.doesNotMatch(names, /"goes"/);
    const { body: dump } = await sluice.admin('/config_dump?mask=version_info');
    assert.match(dump, /ClustersConfigDump",\s*"version_info": "2"/);
    assert.equal(await sluice.stat('cluster_manager.cds.config_reload'), 1);
  });

  for (const [option, figures] of [
    ['--reject-unknown-dynamic-fields', { update_rejected: 2, update_success: 1 }],
    ['--ignore-unknown-dynamic-fields', { update_rejected: 0, update_success: 3 }],
  ] as const) {
    it(`follow ${option}, and count no unknown field then`, async () => {
      using scratch = makeScratch();
      const raw = 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';
      const put = (version: string, nonsense: object, nonsenseWithin: object): void => {
        const transport = { name: 'raw', typed_config: { '@type': raw, ...nonsenseWithin } };
        const fields = { connect_timeout: '1s', transport_socket: transport, ...nonsense };
        const resources = [resource.cluster({ name: 'c', type: 'STATIC', ...fields })];
        moveIntoPlace(scratch, 'cds.json', { version, resources });
      };
      put('1', {}, {});
      const source = { cds_config: fileSource(scratch.file('cds.json')) };
      await using sluice = await start(scratch, source, [option]);
      const attempts = 'cluster_manager.cds.update_attempt';
      put('2', { nonsense: 1 }, {});
      await sluice.waitForStat(attempts, (count) => count === 2);
      // But for what the API does not know it is what is in use already.
      put('3', {}, { nonsense: 1 });
      await sluice.waitForStat(attempts, (count) => count === 3);
      for (const [name, wanted] of Object.entries(figures)) {
        await sluice.waitForStat(`cluster_manager.cds.${name}`, (count) => count === wanted);
      }
      assert.equal(await sluice.stat('server.dynamic_unknown_fields'), 0);
    });
  }
});
