/** Listener filters that need no bytes of a connection. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bootstrap } from '../../support/parts/bootstrap.ts';
import {
  fileLog,
  filterListener,
  networkFilter,
  tcpProxyFilter,
} from '../../support/parts/tcp-listener.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.listener';
const scratch = makeScratch();
const ECHO = networkFilter('echo', 'echo.v3.Echo');

const limit = (fields: object = {}): object => ({
  name: 'limit',
  typed_config: {
    '@type': `${TYPE}.local_ratelimit.v3.LocalRateLimit`,
    stat_prefix: 'pre',
    token_bucket: { max_tokens: 1, fill_interval: '60s' },
  },
  ...fields,
});

const remember = (key: string, format: string): object => ({
  name: 'remember',
  typed_config: {
    '@type': `${TYPE}.set_filter_state.v3.Config`,
    on_accept: [
      {
        object_key: key,
        factory_key: 'envoy.string',
        format_string: { text_format_source: { inline_string: format } },
      },
    ],
  },
});

const INSPECTOR = {
  name: 'http',
  typed_config: { '@type': `${TYPE}.http_inspector.v3.HttpInspector` },
};

async function start(
  listenerFilters: readonly object[],
  last: object = ECHO,
): Promise<Sluice & { tcp: number }> {
  const listeners = [filterListener([last], { listener_filters: listenerFilters })];
  const sluice = await startSluice({ bootstrap: bootstrap({ listeners }) });
  return Object.assign(sluice, { tcp: await sluice.listenerPort('tcp') });
}

async function echoes(port: number): Promise<boolean> {
  const client = await openRaw(port);
  client.send('(');
  client.end();
  return (await client.closed()) === '(';
}

describe('the listener filter local_ratelimit', () => {
  it('closes connections beyond the rate before anything else counts them', async () => {
    await using sluice = await start([limit()]);
    assert.equal(await echoes(sluice.tcp), true);
    const second = await openRaw(sluice.tcp);
    assert.equal(await second.closed(), '');
    assert.equal(await sluice.stat('listener_local_ratelimit.pre.rate_limited'), 1);
    assert.equal(await sluice.stat('listener.127.0.0.1_0.downstream_cx_total'), 1);
  });

  it('looks at no connection where it is disabled', async () => {
    await using sluice = await start([limit({ filter_disabled: { any_match: true } })]);
    assert.equal(await echoes(sluice.tcp), true);
    assert.equal(await echoes(sluice.tcp), true);
  });

  it('is asked behind a filter that waits for bytes', async () => {
    await using sluice = await start([INSPECTOR, limit()]);
    const silent = await openRaw(sluice.tcp);
    assert.equal(await echoes(sluice.tcp), true);
    silent.send('(');
    assert.equal(await silent.closed(), '');
    assert.equal(await sluice.stat('listener_local_ratelimit.pre.rate_limited'), 1);
  });
});

describe('the listener filter set_filter_state', () => {
  it('keeps facts of a connection that says nothing', async () => {
    const log = scratch.file('log');
    const proxy = tcpProxyFilter({
      cluster: 'nowhere',
      access_log: [fileLog(log, '%FILTER_STATE(my.key:PLAIN)%')],
    });
    const address = '%DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT%';
    await using sluice = await start([remember('my.key', `from ${address}`)], proxy);
    const client = await openRaw(sluice.tcp);
    await client.closed();
    await waitUntil('the line', () => readFileSync(log, 'utf8') === 'from 127.0.0.1\n');
  });
});
