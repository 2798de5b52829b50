import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDisabledExtensions } from '../../../../supervisor/resources/disabled-extensions.ts';

describe('--disable-extensions', () => {
  const router = 'envoy.filters.http/envoy.filters.http.router';

  it('takes names with their category, older names too', () => {
    for (const item of [router, 'envoy.filters.http/envoy.router']) {
      const { names, notes } = readDisabledExtensions([item]);
      assert.deepEqual([...names], [router]);
      assert.deepEqual(notes, [{ level: 'info', text: `disabled extension '${item}'` }]);
    }
    const older = {
      'envoy.filters.network/envoy.tcp_proxy': 'envoy.filters.network.tcp_proxy',
      'envoy.filters.listener/envoy.listener.tls_inspector': 'envoy.filters.listener.tls_inspector',
      'envoy.transport_sockets.upstream/tls': 'envoy.transport_sockets.tls',
      'envoy.access_loggers/envoy.file_access_log': 'envoy.access_loggers.file',
      'envoy.stats_sinks/envoy.statsd': 'envoy.stat_sinks.statsd',
    };
    const { names } = readDisabledExtensions(Object.keys(older));
    assert.deepEqual(
      [...names].map((name) => name.slice(name.indexOf('/') + 1)),
      Object.values(older),
    );
  });

  it('says of each other item why it switches nothing off', () => {
    const { names, notes } = readDisabledExtensions([
      'envoy.filters.http.router',
      'nosuch/envoy.filters.http.router',
      ` ${router}`,
      '',
    ]);
    assert.equal(names.size, 0);
    assert.deepEqual(
      notes.map(({ level, text }) => `${level} ${text}`),
      [
        "warning failed to disable invalid extension name 'envoy.filters.http.router'",
        "warning failed to disable unknown extension 'nosuch/envoy.filters.http.router'",
        `warning failed to disable unknown extension ' ${router}'`,
        "warning failed to disable invalid extension name ''",
      ],
    );
  });
});
