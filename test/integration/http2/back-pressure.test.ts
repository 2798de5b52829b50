/**
 * Who reads nothing holds up who sends to it, through the proxy, for each pair of protocols and in
 * both directions: little of a large body leaves its sender, other requests go on meanwhile, and all
 * of it arrives once it is read.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { http2 as speaksHttp2 } from '../../support/programs/http2-upstreams.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { within } from '../../support/wait.ts';

const PIECE = Buffer.alloc(64 * 1024, 'x');
const PIECES = 448;
/** What the sockets of all three parties hold, and the proxy; of 28 MiB. */
const MOST_HELD_PIECES = 360;
/** The size of the proxy's windows and buffers. */
const SMALL = 65_536;
const SIBLINGS = 20;
type Protocol = 'HTTP/1' | 'HTTP/2';

interface Asked {
  readonly request: Writable;
  readonly answer: Promise<Readable>;
}

type Ask = (path: string) => Asked;

/** A large body on its way. */
class Transfer {
  poured = 0;
  taken = 0;

  /** One piece after the other, each when there is room for it. */
  pour(into: Writable): void {
    const next = (): void => {
      if (this.poured === PIECES) into.end();
      else into.write(PIECE, (error) => error ?? (this.poured++, next()));
    };
    next();
  }

  async take(from: Readable): Promise<void> {
    for await (const piece of from) this.taken += (piece as Buffer).length;
  }
}

/** A host of both protocols, by port; `upload` is read when it is told. */
async function startHosts() {
  const state = { down: new Transfer(), up: new Transfer(), mayTake: Promise.resolve() };
  const serve = (request: Readable & { url?: string | undefined }, response: Writable): void => {
    if (request.url === '/down') state.down.pour(response);
    else if (request.url !== '/up') request.resume().on('end', () => response.end('small'));
    else void state.mayTake.then(() => state.up.take(request)).then(() => response.end('taken'));
  };
  const servers = [http.createServer(serve), http2.createServer(serve)];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    state,
    ports,
    [Symbol.dispose]: () => {
      for (const server of servers) server.close();
    },
  };
}

function config([http1Port = 0, http2Port = 0]: readonly number[]): object {
  const windows = {
    initial_stream_window_size: SMALL,
    initial_connection_window_size: 4 * SMALL,
  };
  const small = { per_connection_buffer_limit_bytes: SMALL };
  const to = (cluster: string): object => ({
    match: {
      prefix: '/',
      headers: [{ name: 'to', string_match: { exact: cluster } }],
    },
    route: { cluster, timeout: '0s' },
  });
  return bootstrap({
    listeners: [
      httpListener([to('HTTP/1'), to('HTTP/2')], {
        hcm: { http2_protocol_options: windows },
        listener: small,
      }),
    ],
    clusters: [
      staticCluster('HTTP/1', [http1Port], small),
      staticCluster('HTTP/2', [http2Port], { ...small, ...speaksHttp2(windows) }),
    ],
  });
}

async function openClient(protocol: Protocol, port: number, to: Protocol) {
  if (protocol === 'HTTP/1') {
    const agent = new http.Agent();
    const ask: Ask = (path) => {
      const request = http.request({ port, path, agent, method: 'POST', headers: { to } });
      const answer = once(request, 'response').then(([response]) => response as Readable);
      return { request, answer };
    };
    return { ask, [Symbol.dispose]: () => agent.destroy() };
  }
  const session = http2.connect(`http://127.0.0.1:${port}`);
  await once(session, 'remoteSettings');
  const ask: Ask = (path) => {
    const request = session.request({ ':path': path, ':method': 'POST', to }, { endStream: false });
    return { request, answer: once(request, 'response').then(() => request) };
  };
  return { ask, [Symbol.dispose]: () => session.destroy() };
}

/** Asks until no piece of the large body has left its sender meanwhile. */
async function askSiblings(ask: Ask, transfer: Transfer): Promise<void> {
  for (let before = -1; before !== transfer.poured;) {
    before = transfer.poured;
    for (let count = 0; count < SIBLINGS; count++) {
      const { request, answer } = ask('/small');
      request.end('and a body');
      const sibling = new Transfer();
      await sibling.take(await within('sibling', answer));
      assert.equal(sibling.taken, 'small'.length);
    }
  }
}

async function exchangeSlowly(client: Protocol, host: Protocol): Promise<void> {
  using hosts = await startHosts();
  await using sluice = await startSluice({ bootstrap: config(hosts.ports) });
  using asking = await openClient(client, await sluice.listenerPort('web'), host);
  const { state } = hosts;

  const down = asking.ask('/down');
  down.request.end();
  const answer = await within('answer', down.answer);
  await askSiblings(asking.ask, state.down);
  assert.ok(state.down.poured < MOST_HELD_PIECES, `${state.down.poured} pieces left the host`);
  const taken = new Transfer();
  await within('download', taken.take(answer));
  assert.equal(taken.taken, PIECES * PIECE.length);

  let startTaking: () => void = () => undefined;
  state.mayTake = new Promise((resolve) => (startTaking = resolve));
  const up = asking.ask('/up');
  const sent = new Transfer();
  sent.pour(up.request);
  await askSiblings(asking.ask, sent);
  assert.ok(sent.poured < MOST_HELD_PIECES, `${sent.poured} pieces left the client`);
  startTaking();
  await new Transfer().take(await within('upload', up.answer));
  assert.equal(state.up.taken, PIECES * PIECE.length);
}

describe('who reads slowly holds up who sends', () => {
  for (const client of ['HTTP/1', 'HTTP/2'] as const) {
    for (const host of ['HTTP/1', 'HTTP/2'] as const) {
      it(`from ${client} to ${host}, and nobody else`, () => exchangeSlowly(client, host));
    }
  }
});
