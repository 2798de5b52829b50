import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { makeScratch, type Scratch } from '../../support/scratch.ts';
import { ADMIN, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

interface Chain {
  readonly address: string;
  readonly text: string;
}

/** One filter chain per address that a connection may be for, each with its own answer. */
function listenerOf(chains: readonly Chain[], fields: object = {}): object {
  const made = chains.map(({ address, text }) => {
    const route = {
      match: { prefix: '/' },
      direct_response: { status: 200, body: { inline_string: text } },
    };
    const { filter_chains: [chain] = [] } = httpListener([route]) as { filter_chains?: object[] };
    const match = { prefix_ranges: [{ address_prefix: address, prefix_len: 32 }] };
    return { ...chain, name: address, filter_chain_match: match };
  });
  return resource.listener(
    httpListener([], {
      listener: {
        address: { socket_address: { address: '0.0.0.0', port_value: 0 } },
        filter_chains: made,
        ...fields,
      },
    }),
  );
}

function put(scratch: Scratch, version: string, ...resources: readonly object[]): void {
  moveIntoPlace(scratch, 'lds.json', { version, resources });
}

function start(scratch: Scratch, args: readonly string[]): Promise<Sluice> {
  return startSluice({
    scratch,
    args,
    bootstrap: {
      node: { id: 'test', cluster: 'test' },
      admin: ADMIN,
      static_resources: { clusters: [staticCluster('away', [9])] },
      dynamic_resources: { lds_config: fileSource(scratch.file('lds.json')) },
    },
  });
}

async function ask(connection: RawConnection): Promise<string> {
  const seen = connection.received().length;
  connection.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await connection.until((text) => /\r\n\r\n\w+$/.test(text.slice(seen)));
  return connection.received().slice(seen);
}

/** A control plane that never answers. */
const SILENT_SOURCE = {
  resource_api_version: 'V3',
  api_config_source: {
    api_type: 'GRPC',
    transport_api_version: 'V3',
    grpc_services: [{ envoy_grpc: { cluster_name: 'away' } }],
  },
};

const OLD_ONE = { address: '127.0.0.1', text: 'old' };
const NEW_ONE = { address: '127.0.0.1', text: 'new' };
const OTHER = { address: '127.0.0.2', text: 'other' };

describe('a listener that is changed', () => {
  it('drains only the connections of chains that changed, when nothing else did', async () => {
    using scratch = makeScratch();
    put(scratch, '1', listenerOf([OLD_ONE, OTHER]));
    await using sluice = await start(scratch, [
      '--drain-strategy',
      'immediate',
      '--drain-time-s',
      '3',
    ]);
    const port = await sluice.listenerPort('web');
    const changed = await openRaw(port);
    const unchanged = await openRaw(port, OTHER.address);
    assert.match(await ask(changed), /old$/);
    assert.match(await ask(unchanged), /other$/);

    put(scratch, '2', listenerOf([NEW_ONE, OTHER]));
    await waitUntil('the new chain', async () => {
      return (await fetchOnce({ port, path: '/' })).body === 'new';
    });
    assert.equal(await sluice.stat('listener_manager.listener_in_place_updated'), 1);
    assert.equal(await sluice.stat('listener_manager.listener_modified'), 1);
    assert.equal(await sluice.stat('listener_manager.total_filter_chains_draining'), 1);
    assert.equal(await sluice.stat('listener_manager.total_listeners_draining'), 0);
    const last = await ask(changed);
    assert.match(last, /old$/);
    assert.match(last, /connection: close/i);
    await changed.closed();
    await sluice.waitForStat('listener_manager.total_filter_chains_draining', (n) => n === 0);
    const still = await ask(unchanged);
    assert.match(still, /other$/);
    assert.doesNotMatch(still, /connection: close/i);
    unchanged.destroy();
  });

  it('drains all its connections when more than chains changed, and cuts them after the drain time', async () => {
    using scratch = makeScratch();
    put(scratch, '1', listenerOf([OLD_ONE, OTHER]));
    await using sluice = await start(scratch, [
      '--drain-strategy',
      'immediate',
      '--drain-time-s',
      '2',
    ]);
    const port = await sluice.listenerPort('web');
    const busy = await openRaw(port, OTHER.address);
    const idle = await openRaw(port);
    assert.match(await ask(busy), /other$/);
    assert.match(await ask(idle), /old$/);

    put(scratch, '2', listenerOf([OLD_ONE, OTHER], { per_connection_buffer_limit_bytes: 65536 }));
    await sluice.waitForStat('listener_manager.total_listeners_draining', (n) => n === 1);
    assert.match((await sluice.admin('/config_dump')).body, /"draining_state"/);
    assert.match(await ask(busy), /connection: close/i);
    await busy.closed();
    await idle.closed();
    assert.equal(await sluice.stat('listener_manager.listener_in_place_updated'), 0);
    assert.equal((await fetchOnce({ port, path: '/' })).body, 'old');
  });

  it('is shown with the versions that serve, wait and drain, and with what was refused last', async () => {
    using scratch = makeScratch();
    const changed = { per_connection_buffer_limit_bytes: 65536 };
    put(scratch, '1', listenerOf([OLD_ONE]));
    await using sluice = await start(scratch, []);
    const shownAfter = async (version: string, ...resources: readonly object[]): Promise<Shown> => {
      const before = await dealtWith(sluice);
      put(scratch, version, ...resources);
      await waitUntil('the update', async () => (await dealtWith(sluice)) > before);
      return await shown(sluice);
    };
    // As in Envoy, a listener whose chains alone changed keeps the version that it began with.
    assert.deepEqual(await shownAfter('2', listenerOf([NEW_ONE])), { active: '1' });
    const third = listenerOf([NEW_ONE], changed);
    assert.deepEqual(await shownAfter('3', third), { active: '3', draining: '1' });
    const fourth = listenerOf([NEW_ONE], { ...changed, stat_prefix: 'fourth' });
    // The oldest of the versions that drain is shown.
    assert.deepEqual(await shownAfter('4', fourth), { active: '4', draining: '1' });
    assert.equal(await sluice.stat('listener_manager.total_listeners_draining'), 2);
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/' });
    assert.equal(await sluice.stat('listener.fourth.downstream_cx_total'), 1);

    const refused = await shownAfter('5', listenerOf([NEW_ONE], { enable_reuse_port: false }));
    const error = 'Listener web: reuse port cannot be changed during an update';
    assert.deepEqual(refused, { active: '4', draining: '1', error });
    assert.deepEqual(await shownAfter('6', fourth), { active: '4', draining: '1' });
    assert.equal(await sluice.stat('listener_manager.listener_create_failure'), 0);

    const waiting = httpListener([], {
      hcm: {
        route_config: undefined,
        rds: { route_config_name: 'r', config_source: SILENT_SOURCE },
      },
    });
    const warming = { active: '4', draining: '1', warming: '7' };
    assert.deepEqual(await shownAfter('7', resource.listener(waiting)), warming);
    const modified = await sluice.stat('listener_manager.listener_modified');
    assert.deepEqual(await shownAfter('8', fourth), { active: '4', draining: '1' });
    assert.equal(await sluice.stat('listener_manager.listener_modified'), modified + 1);

    // A second one of its name is refused without a name.
    const doubled = await shownAfter('9', fourth, third);
    assert.deepEqual(doubled, { active: '4', draining: '1' });
    assert.match((await sluice.admin('/config_dump')).body, /duplicate listener web found/);

    // What is gone is there while it drains, though nobody is connected.
    assert.deepEqual(await shownAfter('10'), { draining: '1' });
    assert.match((await sluice.admin('/config_dump')).body, /"static_route_configs"/);
    assert.match((await sluice.admin('/stats')).body, /^http\.web\.downstream_rq_2xx: 1$/m);
  });
});

/** How many updates were taken or refused. */
async function dealtWith(sluice: Sluice): Promise<number> {
  const taken = await sluice.stat('listener_manager.lds.update_success');
  return taken + (await sluice.stat('listener_manager.lds.update_rejected'));
}

type State = 'active' | 'warming' | 'draining';
type Shown = { readonly [Name in State | 'error']?: string };

type Entry = {
  readonly name?: string;
  readonly error_state?: { readonly details: string };
} & { readonly [Name in `${State}_state`]?: { readonly version_info: string } };

/** The version of each state of the one listener, and why the last update of it was refused. */
async function shown(sluice: Sluice): Promise<Shown> {
  const { body } = await sluice.admin('/config_dump?resource=dynamic_listeners');
  const { configs } = JSON.parse(body) as { readonly configs: readonly Entry[] };
  const listener = configs.find(({ name }) => name === 'web');
  const states = (['active', 'warming', 'draining'] as const).flatMap((state) => {
    const version = listener?.[`${state}_state`]?.version_info;
    return version === undefined ? [] : [[state, version]];
  });
  const error = listener?.error_state?.details;
  return { ...Object.fromEntries(states), ...(error === undefined ? {} : { error }) } as Shown;
}
