import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { GREETING, bootstrap } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import {
  askSecurely,
  certificateFiles,
  secureListener,
  tlsSocket,
} from '../../support/parts/tls.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { inBytes } from '../../support/in-bytes.ts';
import { makeScratch } from '../../support/scratch.ts';

const INSPECTOR = {
  name: 'envoy.filters.listener.tls_inspector',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
  },
};

describe('the protocols that a TLS client names', () => {
  it('are answered with the first of the server that is among them, or not at all', async () => {
    await using served = await serve();
    const cases = [
      [['http/1.1'], 'http/1.1'],
      [['spdy/3', 'http/1.1'], 'http/1.1'],
      [['spdy/3'], false],
      [['http/1.10', 'H2'], false],
      [undefined, false],
    ] as const;
    for (const port of served.ports) {
      for (const [names, protocol] of cases) {
        for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
          const asked = names === undefined ? {} : { ALPNProtocols: [...names] };
          const answer = await askSecurely(port, { ...asked, maxVersion });
          assert.equal(answer.protocol, protocol, JSON.stringify(names));
          assert.match(answer.text, /^HTTP\/1\.1 200 /);
        }
      }
    }
    const stats = await served.sluice.stats('filter=ssl.connection_error');
    assert.doesNotMatch(stats, / [1-9]/);
  });

  it('are read from a first message that comes in single bytes', async () => {
    await using served = await serve();
    for (const port of served.ports) {
      for (const [name, protocol] of [
        ['http/1.1', 'http/1.1'],
        ['other', false],
      ] as const) {
        const socket = net.connect(port, '127.0.0.1').setNoDelay(true);
        await once(socket, 'connect');
        const ALPNProtocols = [name];
        const options = { socket: inBytes(socket), ALPNProtocols, rejectUnauthorized: false };
        const client = tls.connect(options);
        await once(client, 'secureConnect');
        assert.equal(client.alpnProtocol, protocol);
        client.destroy();
        socket.destroy();
      }
    }
  });

  it('are awaited no longer than the handshake may take, and only up to their limit', async () => {
    await using served = await serve('0.2s');
    for (const port of served.ports) {
      const silent = net.connect(port, '127.0.0.1');
      silent.write(Buffer.from('16030100ff', 'hex'));
      silent.resume();
      await once(silent, 'close');
      // A message of 16 MiB in records of one byte.
      const endless = net.connect(port, '127.0.0.1');
      endless.on('error', () => undefined);
      const record = (byte: number): string => `1603010001${byte.toString(16).padStart(2, '0')}`;
      const bytes = [1, 0xff, 0xff, 0xff].map(record).join('') + record(3).repeat(8 * 1024);
      endless.write(Buffer.from(bytes, 'hex'));
      endless.resume();
      await once(endless, 'close');
    }
    assert.match((await askSecurely(served.ports[0])).text, / 200 /);
  });
});

interface Served extends AsyncDisposable {
  readonly sluice: Sluice;
  /**
   * The ports of a listener without listener filters, and of one that looks at first bytes already.
   */
  readonly ports: readonly [number, number];
}

async function serve(handshakeTimeout?: string): Promise<Served> {
  const scratch = makeScratch();
  const context = {
    alpn_protocols: ['h2', 'http/1.1'],
    tls_certificates: [certificateFiles(makeAuthority(scratch.path).issue('s', 'DNS:s.test'))],
  };
  const listener = secureListener(
    GREETING,
    tlsSocket('Downstream', { common_tls_context: context }),
  ) as { filter_chains: readonly object[] };
  const chains = listener.filter_chains.map((chain) =>
    handshakeTimeout === undefined
      ? chain
      : { ...chain, transport_socket_connect_timeout: handshakeTimeout },
  );
  const plain = { ...listener, filter_chains: chains };
  const limit =
    handshakeTimeout === undefined ? {} : { listener_filters_timeout: handshakeTimeout };
  const inspected = { ...plain, name: 'inspected', listener_filters: [INSPECTOR], ...limit };
  const sluice = await startSluice({ bootstrap: bootstrap({ listeners: [plain, inspected] }) });
  const ports = [await sluice.listenerPort('web'), await sluice.listenerPort('inspected')] as const;
  return {
    sluice,
    ports,
    async [Symbol.asyncDispose]() {
      await sluice[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}
