import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TLS, TLS_SOCKET_FACTORY } from '../../../../shared/stats/templates/tls.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { TlsStats } from '../../../../workers/tls/tls-stats.ts';

describe('statistics of a TLS context', () => {
  it('has none of handshakes before its secrets are there', () => {
    const store = new StatStore();
    const stats = new TlsStats(store, 'listener.l.', 'server');
    assert.ok(store.find(TLS_SOCKET_FACTORY, 'listener.l.server_ssl_socket_factory.'));
    assert.equal(store.find(TLS, 'listener.l.ssl.'), undefined);
    stats.open();
    stats.open();
    assert.ok(store.find(TLS, 'listener.l.ssl.'));
    stats.release();
    assert.deepEqual([...store.definitions()], []);
  });
});
