import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import {
  fileLog,
  filterListener,
  networkFilter,
  tcpProxyFilter,
} from '../../support/parts/tcp-listener.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const ECHO = networkFilter('echo', 'echo.v3.Echo');
const ANYBODY = { permissions: [{ any: true }], principals: [{ any: true }] };

async function start(filters: readonly object[]): Promise<Sluice & { tcp: number }> {
  const sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [filterListener(filters)] }),
  });
  return Object.assign(sluice, { tcp: await sluice.listenerPort('tcp') });
}

describe('small network filters', () => {
  it('echo what a client sends, and its end', async () => {
    await using sluice = await start([ECHO]);
    const client = await openRaw(sluice.tcp);
    client.send('hello');
    await client.until('hello');
    client.end();
    assert.equal(await client.closed(), 'hello');
  });

  it('answer every connection with the same bytes and close it', async () => {
    const response = { inline_bytes: Buffer.from([104, 105, 0, 255]).toString('base64') };
    await using sluice = await start([
      networkFilter('direct_response', 'direct_response.v3.Config', { response }),
    ]);
    const client = await openRaw(sluice.tcp);
    assert.equal(await client.closed(), 'hi\u0000\u00ff');
  });

  it('close connections beyond a rate and count them', async () => {
    const limit = { stat_prefix: 'r', token_bucket: { max_tokens: 1, fill_interval: '60s' } };
    await using sluice = await start([
      networkFilter('local_ratelimit', 'local_ratelimit.v3.LocalRateLimit', limit),
      ECHO,
    ]);
    const first = await openRaw(sluice.tcp);
    first.send('x');
    await first.until('x');
    const second = await openRaw(sluice.tcp);
    assert.equal(await second.closed(), '');
    assert.equal(await sluice.stat('local_rate_limit.r.rate_limited'), 1);
    first.destroy();
  });

  it('takes from one bucket for all filters with the same key', async () => {
    const limit = (key: string): object =>
      networkFilter('local_ratelimit', 'local_ratelimit.v3.LocalRateLimit', {
        stat_prefix: 'r',
        token_bucket: { max_tokens: 3, fill_interval: '3600s' },
        share_key: key,
      });
    await using sluice = await start([limit('a'), limit('a'), limit('b'), ECHO]);
    const first = await openRaw(sluice.tcp);
    first.send('x');
    await first.until('x');
    assert.equal(await (await openRaw(sluice.tcp)).closed(), '');
    assert.equal(await sluice.stat('local_rate_limit.r.rate_limited'), 1);
    first.destroy();
  });
});

describe('access control of connections', () => {
  it('refuses with the first bytes, and says in statistics what shadow rules would do', async () => {
    await using sluice = await start([
      networkFilter('rbac', 'rbac.v3.RBAC', {
        stat_prefix: 'a',
        rules: { action: 'DENY', policies: { all: ANYBODY } },
        shadow_rules: { action: 'ALLOW', policies: { all: ANYBODY } },
        shadow_rules_stat_prefix: 's_',
      }),
      ECHO,
    ]);
    const client = await openRaw(sluice.tcp);
    assert.equal(await sluice.stat('a.rbac.denied'), 0);
    client.send('x');
    assert.equal(await client.closed(), '');
    assert.equal(await sluice.stat('a.rbac.denied'), 1);
    assert.equal(await sluice.stat('a.rbac.s_.shadow_allowed'), 1);
  });

  it('stands in front of a TCP proxy and of HTTP alike', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.pipe(socket));
    const allow = networkFilter('rbac', 'rbac.v3.RBAC', {
      stat_prefix: 'a',
      rules: {
        policies: {
          local: {
            permissions: [{ any: true }],
            principals: [{ direct_remote_ip: { address_prefix: '127.0.0.0', prefix_len: 8 } }],
          },
        },
      },
    });
    const web = httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }]) as {
      filter_chains: { filters: object[] }[];
    };
    web.filter_chains[0]?.filters.unshift(allow);
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [web, filterListener([allow, tcpProxyFilter()])],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
    const answer = await fetchOnce({ port: await sluice.listenerPort('web'), path: '/' });
    assert.equal(answer.status, 200);
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('through');
    await client.until('through');
    client.destroy();
    assert.equal(await sluice.stat('a.rbac.allowed'), 2);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 0);
  });
});

/** How many of `clients` connections are answered, all of them open at the same time. */
async function served(port: number, clients: number): Promise<number> {
  const open = await Promise.all(Array.from({ length: clients }, () => openRaw(port)));
  const answers = await Promise.all(
    open.map(async (client) => {
      client.send('x');
      const answer = await Promise.race([client.until('x'), client.closed()]);
      return answer === 'x';
    }),
  );
  for (const client of open) client.destroy();
  return answers.filter(Boolean).length;
}

describe('limits on numbers of connections', () => {
  it('hold over all workers, by filter and by listener, and count what they close', async () => {
    const limit = (max: number): object =>
      networkFilter('connection_limit', 'connection_limit.v3.ConnectionLimit', {
        stat_prefix: 'l',
        max_connections: max,
        delay: '0.05s',
      });
    const limited = { name: 'limited', stat_prefix: 'limited' };
    await using sluice = await startSluice({
      bootstrap: {
        ...bootstrap({
          listeners: [filterListener([limit(3), ECHO]), filterListener([ECHO], limited)],
        }),
        layered_runtime: {
          layers: [
            {
              name: 'static',
              static_layer: { 'envoy.resource_limits.listener.limited.connection_limit': 2 },
            },
          ],
        },
      },
      concurrency: 2,
    });
    assert.equal(await served(await sluice.listenerPort('tcp'), 10), 3);
    assert.equal(await sluice.stat('connection_limit.l.limited_connections'), 7);
    await sluice.waitForStat('connection_limit.l.active_connections', (value) => value === 0);
    const port = await sluice.listenerPort('limited');
    assert.equal(await served(port, 10), 2);
    assert.equal(await sluice.stat('listener.limited.downstream_cx_overflow'), 8);
  });
});

describe('facts that a network filter keeps', () => {
  it('choose the cluster of the TCP proxy behind it, and stand in access logs', async () => {
    await using upstream = await startRawUpstream((connection) => connection.pipe(connection));
    using scratch = makeScratch();
    const log = scratch.file('tcp.log');
    const value = (key: string, text: string, more: object): object => ({
      object_key: key,
      format_string: { text_format_source: { inline_string: text } },
      ...more,
    });
    const keep = networkFilter('set_filter_state', 'set_filter_state.v3.Config', {
      on_new_connection: [
        value('envoy.tcp_proxy.cluster', 'up', {}),
        value('own', 'of %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%', {
          factory_key: 'envoy.string',
          read_only: true,
        }),
        value('own', 'later', { factory_key: 'envoy.string' }),
      ],
    });
    const proxy = tcpProxyFilter({
      cluster: 'none',
      access_log: [fileLog(log, '%FILTER_STATE(own:PLAIN)% %FILTER_STATE(own)%')],
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [filterListener([keep, proxy])],
        clusters: [staticCluster('up', [upstream.port])],
      }),
      args: ['--file-flush-interval-msec', '10'],
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('hello');
    await client.until('hello');
    client.destroy();
    const line = await waitUntil('the line', () => readFileSync(log, 'utf8') || undefined);
    assert.equal(line, 'of 127.0.0.1 "of 127.0.0.1"\n');
  });
});

describe('a tree that names the filter chain', () => {
  it('decides by port and by address ranges; a name without a chain closes the connection', async () => {
    const input = (kind: string): object => ({
      name: kind,
      typed_config: {
        '@type': `type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.${kind}`,
      },
    });
    const to = (name: string): object => ({
      action: {
        name: 'chain',
        typed_config: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: name },
      },
    });
    const range = (prefix: string, length: number, more: object, name: string): object => ({
      ranges: [{ address_prefix: prefix, prefix_len: length }],
      on_match: to(name),
      ...more,
    });
    const chain = (name: string): object => ({
      name,
      filters: [
        networkFilter('direct_response', 'direct_response.v3.Config', {
          response: { inline_string: name },
        }),
      ],
    });
    const ranges = {
      '@type': 'type.googleapis.com/xds.type.matcher.v3.IPMatcher',
      range_matchers: [
        range('10.0.0.0', 8, { exclusive: true }, 'wide'),
        range('10.1.0.0', 16, { on_match: { matcher: { on_no_match: to('narrow') } } }, ''),
      ],
    };
    const byAddress = {
      matcher_tree: {
        input: input('SourceIPInput'),
        custom_match: { name: 'ip', typed_config: ranges },
      },
    };
    const matcher = {
      matcher_tree: {
        input: input('DestinationPortInput'),
        exact_match_map: { map: { '1': to('port'), '2': to('nobody') } },
      },
      on_no_match: { matcher: byAddress },
    };
    const listener = {
      ...filterListener([]),
      listener_filters: [
        {
          name: 'envoy.filters.listener.proxy_protocol',
          typed_config: {
            '@type':
              'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
          },
        },
      ],
      filter_chains: ['port', 'wide', 'narrow'].map(chain),
      default_filter_chain: chain('default'),
      filter_chain_matcher: matcher,
    };
    await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
    const port = await sluice.listenerPort('tcp');
    for (const [from, toPort, wanted] of [
      ['10.2.0.1', 1, 'port'],
      ['10.2.0.1', 2, ''],
      ['10.2.0.1', 3, 'wide'],
      ['10.1.0.1', 3, 'narrow'],
      ['11.0.0.1', 3, 'default'],
    ] as const) {
      const client = await openRaw(port);
      client.send(`PROXY TCP4 ${from} 1.1.1.1 9 ${toPort}\r\n`);
      assert.equal(await client.closed(), wanted);
    }
  });
});
