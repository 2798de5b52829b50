/** Clients that leave while listener filters still wait for bytes: what is counted, as by Envoy. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, GREETING, httpListener } from '../../support/parts/bootstrap.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const TLS_INSPECTOR = {
  name: 'envoy.filters.listener.tls_inspector',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  },
};
const PREFIX = 'listener.w.downstream_';

describe('a client that leaves before a listener filter is done', () => {
  const ways: readonly (readonly [string, (socket: Socket) => void, string])[] = [
    ['by closing', (socket) => socket.end(), `${PREFIX}listener_filter_remote_close`],
    ['by a reset', (socket) => socket.resetAndDestroy(), `${PREFIX}listener_filter_error`],
  ];
  for (const [title, leave, counter] of ways) {
    it(`is counted: ${title}`, async () => {
      const listener = {
        ...httpListener(GREETING),
        stat_prefix: 'w',
        listener_filters: [TLS_INSPECTOR],
      };
      await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
      const socket = connect(await sluice.listenerPort('web'), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(Buffer.from('160301', 'hex'));
      await sluice.waitForStat(`${PREFIX}pre_cx_active`, (count) => count === 1);
      leave(socket);
      await sluice.waitForStat(counter, (count) => count === 1);
      await sluice.waitForStat(`${PREFIX}pre_cx_active`, (count) => count === 0);
      assert.equal(await sluice.stat(`${PREFIX}pre_cx_timeout`), 0);
    });
  }
});
