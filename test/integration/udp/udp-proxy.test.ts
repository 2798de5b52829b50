/** Datagrams to hosts and their answers back, through the whole program. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { udpListener } from '../../support/parts/udp-listener.ts';
import { openDatagramClient, startDatagramHost } from '../../support/peers/services/datagrams.ts';
import { freeDatagramPort } from '../../support/peers/services/datagrams.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const STDOUT = 'type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog';
const logOf = (format: string): object => ({
  name: 'l',
  typed_config: {
    '@type': STDOUT,
    log_format: { text_format_source: { inline_string: `${format}\n` } },
  },
});

describe('a listener of datagrams', { concurrency: true }, () => {
  it('gives each client a session, which ends when it is idle', async () => {
    await using host = await startDatagramHost((text) => `re ${text}`);
    const listener = udpListener(0, {
      cluster: 'up',
      idle_timeout: '0.5s',
      access_log: [logOf('%DYNAMIC_METADATA(udp.proxy.session)% at %UPSTREAM_HOST%')],
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [staticCluster('up', [host.port])] }),
      concurrency: 2,
    });
    const port = await sluice.listenerPort('udp');
    await using one = await openDatagramClient(port);
    await using two = await openDatagramClient(port);
    assert.equal(await one.ask('a'), 're a');
    assert.equal(await two.ask('b'), 're b');
    assert.equal(await one.ask('c'), 're c');
    await sluice.waitForStat('udp.s.downstream_sess_total', (value) => value === 2);
    await sluice.waitForStat('udp.s.idle_timeout', (value) => value === 2);
    await sluice.waitForStat('udp.s.downstream_sess_active', (value) => value === 0);
    assert.equal(await sluice.stat('cluster.up.udp.sess_tx_datagrams'), 3);
    assert.equal(await sluice.stat('udp.s.downstream_sess_tx_bytes'), 12);
    const isLogged = (): boolean => sluice.stdout().includes('"datagrams_received":2');
    await waitUntil('the line of a session', isLogged);
    assert.match(
      sluice.stdout(),
      new RegExp(
        `"bytes_sent":8,"cluster_name":"up","datagrams_received":2,.*at 127.0.0.1:${host.port}`,
      ),
    );
  });

  it('drops datagrams that are too long, and takes those of no bytes', async () => {
    await using host = await startDatagramHost((text) => `${text.length}`);
    const listener = udpListener(0, { cluster: 'up' });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [staticCluster('up', [host.port])] }),
    });
    const port = await sluice.listenerPort('udp');
    await using client = await openDatagramClient(port);
    client.send(Buffer.alloc(1501));
    assert.equal(await client.ask(Buffer.alloc(1500)), '1500');
    assert.equal(await client.ask(''), '0');
    const dropped = `listener.127.0.0.1_0.udp.downstream_rx_datagram_dropped`;
    await sluice.waitForStat(dropped, (value) => value === 1);
  });

  it('asks hosts from the address that the cluster binds to', async () => {
    await using host = await startDatagramHost((_text, from) => from);
    const fields = {
      upstream_bind_config: { source_address: { address: '127.0.0.9', port_value: 0 } },
    };
    const clusters = [staticCluster('up', [host.port], fields)];
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [udpListener(0, { cluster: 'up' })], clusters }),
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    assert.equal(await client.ask('where from?'), '127.0.0.9');
  });

  it('sends the datagrams of a client by turns where each is balanced', async () => {
    await using first = await startDatagramHost(() => 'first');
    await using second = await startDatagramHost(() => 'second');
    const listener = udpListener(0, { cluster: 'up', use_per_packet_load_balancing: true });
    const cluster = staticCluster('up', [first.port, second.port]);
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [cluster] }),
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    const answers = new Set([await client.ask('1'), await client.ask('2')]);
    assert.deepEqual([...answers].toSorted(), ['first', 'second']);
  });

  it('keeps all clients at one host by a hash of a key', async () => {
    await using first = await startDatagramHost(() => 'first');
    await using second = await startDatagramHost(() => 'second');
    const listener = udpListener(0, { cluster: 'up', hash_policies: [{ key: 'k' }] });
    const cluster = staticCluster('up', [first.port, second.port], { lb_policy: 'RING_HASH' });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [cluster] }),
    });
    const port = await sluice.listenerPort('udp');
    const answers = new Set<string>();
    for (let count = 0; count < 5; count += 1) {
      await using client = await openDatagramClient(port);
      answers.add(await client.ask('?'));
    }
    assert.equal(answers.size, 1);
  });

  it('counts what has no route, no host, too many sessions, or nobody who listens', async () => {
    const deadPort = await freeDatagramPort();
    await using host = await startDatagramHost(() => 'yes');
    const one = { thresholds: [{ max_connections: 1 }] };
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: ['nope', 'empty', 'limited', 'dead'].map((cluster) =>
          udpListener(0, { cluster, stat_prefix: cluster }, { name: cluster }),
        ),
        clusters: [
          staticCluster('empty', []),
          staticCluster('limited', [host.port], { circuit_breakers: one }),
          staticCluster('dead', [deadPort]),
        ],
      }),
    });
    for (const cluster of ['nope', 'empty', 'dead']) {
      await using client = await openDatagramClient(await sluice.listenerPort(cluster));
      client.send('lost');
    }
    const limited = await sluice.listenerPort('limited');
    await using first = await openDatagramClient(limited);
    await using other = await openDatagramClient(limited);
    await first.ask('in');
    other.send('lost');
    const is1 = (value: number): boolean => value === 1;
    await sluice.waitForStat('udp.nope.downstream_sess_no_route', is1);
    await sluice.waitForStat('cluster.empty.upstream_cx_none_healthy', is1);
    await sluice.waitForStat('cluster.limited.upstream_cx_overflow', is1);
    await sluice.waitForStat('cluster.dead.udp.sess_rx_errors', is1);
    assert.equal(await first.ask('still'), 'yes');
  });

  it('finds the cluster of a client by a matcher', async () => {
    await using host = await startDatagramHost(() => 'matched');
    const route = (cluster: string): object => ({
      action: {
        name: 'route',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.Route',
          cluster,
        },
      },
    });
    const input = {
      name: 'source',
      typed_config: {
        '@type':
          'type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.SourceIPInput',
      },
    };
    const tree = { input, exact_match_map: { map: { '127.0.0.1': route('up') } } };
    const listener = udpListener(0, {
      matcher: { matcher_tree: tree, on_no_match: route('nope') },
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [staticCluster('up', [host.port])] }),
    });
    await using client = await openDatagramClient(await sluice.listenerPort('udp'));
    assert.equal(await client.ask('?'), 'matched');
  });
});
