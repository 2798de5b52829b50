import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { within } from '../../support/wait.ts';

const GREETING = '220 at your service\r\n';

const TCP_OPTIONS = 'envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions';

/** By the name of the cluster; each has a listener of the same name. */
const CLUSTERS = {
  ahead: { preconnect_policy: { per_upstream_preconnect_ratio: 2 } },
  left: { preconnect_policy: { per_upstream_preconnect_ratio: 2 } },
  next: { preconnect_policy: { predictive_preconnect_ratio: 3 } },
  brief: {
    preconnect_policy: { per_upstream_preconnect_ratio: 3 },
    typed_extension_protocol_options: {
      [TCP_OPTIONS]: { '@type': `type.googleapis.com/${TCP_OPTIONS}`, idle_timeout: '0.1s' },
    },
  },
  few: { circuit_breakers: { per_host_thresholds: [{ max_connections: 1 }] } },
  full: {
    preconnect_policy: { per_upstream_preconnect_ratio: 2 },
    circuit_breakers: { thresholds: [{ max_connections: 2 }] },
  },
};

type Cluster = keyof typeof CLUSTERS;

describe('connections of TCP proxies', () => {
  const hosts = new Map<Cluster, GreetingHost[]>();
  let sluice: Sluice;

  before(async () => {
    for (const name of namesOf(CLUSTERS)) {
      hosts.set(name, await Promise.all(range(name === 'next' ? 3 : 1).map(startHost)));
    }
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: namesOf(CLUSTERS).map((name) => {
          const proxy = tcpProxyFilter({ stat_prefix: name, cluster: name });
          return filterListener([proxy], { name });
        }),
        clusters: namesOf(CLUSTERS).map((name) =>
          staticCluster(name, portsOf(hosts.get(name)), CLUSTERS[name]),
        ),
      }),
      concurrency: 1,
    });
  });

  after(async () => {
    await sluice[Symbol.asyncDispose]();
    for (const host of Array.from(hosts.values()).flat()) host.close();
  });

  const hostOf = (name: Cluster): GreetingHost => {
    const [host] = hosts.get(name) ?? [];
    assert.ok(host !== undefined);
    return host;
  };
  const open = async (name: Cluster): Promise<RawConnection> =>
    openRaw(await sluice.listenerPort(name));
  const reaches = (name: Cluster, stat: string, wanted: number): Promise<unknown> =>
    sluice.waitForStat(`cluster.${name}.${stat}`, (value) => value === wanted);

  it('are made ahead of their clients, who get what the host said first', async () => {
    const first = await open('ahead');
    await first.until(GREETING);
    await reaches('ahead', 'upstream_cx_rx_bytes_total', 2 * GREETING.length);
    const second = await open('ahead');
    await second.until(GREETING);
    await says(second, 'QUIT', hostOf('ahead'));
    await reaches('ahead', 'upstream_cx_total', 4);
    assert.equal(await sluice.stat('cluster.ahead.upstream_rq_total'), 2);
    assert.equal(await sluice.stat('cluster.ahead.upstream_rq_pending_total'), 1);
    first.destroy();
    second.destroy();
    await reaches('ahead', 'upstream_rq_active', 0);
    await reaches('ahead', 'upstream_cx_active', 2);
  });

  it('are replaced with the next client when their host closes them before anybody came', async () => {
    const first = await open('left');
    await says(first, 'EHLO', hostOf('left'));
    await reaches('left', 'upstream_cx_rx_bytes_total', 2 * GREETING.length);
    hostOf('left').closeUnused();
    await reaches('left', 'upstream_cx_destroy_remote', 1);
    const second = await open('left');
    await second.until(GREETING);
    await reaches('left', 'upstream_cx_total', 5);
    assert.equal(await sluice.stat('cluster.left.upstream_cx_destroy_with_active_rq'), 0);
    first.destroy();
    second.destroy();
  });

  it('are made ahead at the hosts that are next', async () => {
    const first = await open('next');
    await first.until(GREETING);
    await reaches('next', 'upstream_cx_rx_bytes_total', 3 * GREETING.length);
    assert.equal(await sluice.stat('cluster.next.upstream_cx_total'), 3);
    const clients = [first, await open('next'), await open('next')];
    for (const client of clients) await client.until(GREETING);
    assert.equal(await sluice.stat('cluster.next.upstream_rq_pending_total'), 1);
    for (const client of clients) client.destroy();
  });

  it('close when nobody came for as long as they may wait', async () => {
    const client = await open('brief');
    await client.until(GREETING);
    await reaches('brief', 'upstream_cx_idle_timeout', 2);
    await reaches('brief', 'upstream_cx_active', 1);
    client.destroy();
  });

  it('are waited for where a host may have no more', async () => {
    const first = await open('few');
    await first.until(GREETING);
    const second = await open('few');
    await reaches('few', 'upstream_rq_pending_active', 1);
    assert.equal(await sluice.stat('cluster.few.upstream_cx_overflow'), 1);
    first.destroy();
    await second.until(GREETING);
    second.destroy();
  });

  it('are made ahead as far as the limit of connections allows', async () => {
    const first = await open('full');
    await first.until(GREETING);
    await reaches('full', 'upstream_cx_total', 2);
    const second = await open('full');
    assert.equal(await second.closed(), '');
    assert.equal(await sluice.stat('cluster.full.upstream_cx_overflow'), 1);
    first.destroy();
  });
});

interface GreetingHost {
  readonly port: number;
  /** Emits whatever a client sends, by its text. */
  readonly commands: EventEmitter;
  /** Closes the connections on which nobody has said anything. */
  closeUnused(): void;
  close(): void;
}

async function says(client: RawConnection, command: string, host: GreetingHost): Promise<void> {
  const heard = once(host.commands, command);
  client.send(command);
  await within(command, heard);
}

/** Speaks first, as servers of mail and databases do. */
async function startHost(): Promise<GreetingHost> {
  const sockets: Socket[] = [];
  const commands = new EventEmitter();
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece) => commands.emit(piece.toString()));
    socket.write(GREETING);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    closeUnused: () => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.end();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function portsOf(hosts: readonly GreetingHost[] = []): number[] {
  return hosts.map(({ port }) => port);
}

function range(count: number): undefined[] {
  return Array.from({ length: count });
}

function namesOf<Name extends string>(table: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(table) as Name[];
}
