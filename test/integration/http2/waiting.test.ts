/** What waits for a client of HTTP/2 that does not read: the gauges show it, and that it is gone. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
} from 'node:net';
import { describe, it } from 'node:test';
import { pingFrame, settingsFrame, windowUpdateFrame } from '../../../workers/http2/frames.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { framesOf, GET, headersFrame, openFrames } from '../../support/peers/http2-client.ts';
import type { RawConnection } from '../../support/peers/raw-client.ts';
import { type Sluice, startSluice } from '../../support/programs/sluice.ts';

const MIB = 1024 * 1024;
const LARGEST_WINDOW = 2 ** 31 - 1;
const INITIAL_WINDOW_SIZE = 4;
/** More than the buffers of both kernels and the limits of the program hold. */
const LONG = 24 * MIB;
const PINGS = 20;

interface Stage extends AsyncDisposable {
  readonly port: number;
  readonly sluice: Sluice;
}

/** `/` answers with so many bytes. */
function proxyTo(bytes: number): Promise<Stage> {
  return proxyToHost(createServer((_, response) => response.end(Buffer.alloc(bytes))));
}

/** Any request is answered with so many chunks of 64 bytes. */
function proxyToChunks(count: number): Promise<Stage> {
  const body = Buffer.from(`${`40\r\n${'x'.repeat(64)}\r\n`.repeat(count)}0\r\n\r\n`);
  const host = createTcpServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      socket.write(body);
    });
  });
  return proxyToHost(host);
}

async function proxyToHost(host: TcpServer): Promise<Stage> {
  host.listen(0, '127.0.0.1');
  await once(host, 'listening');
  const { port } = host.address() as AddressInfo;
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'host' } }])],
      clusters: [staticCluster('host', [port])],
    }),
  });
  return {
    port: await sluice.listenerPort('web'),
    sluice,
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      host.close();
    },
  };
}

async function nothingWaits({ sluice }: Stage): Promise<void> {
  for (const name of ['pending_send_bytes', 'outbound_frames_active', 'streams_active']) {
    await sluice.waitForStat(`http2.${name}`, (value) => value === 0);
  }
  await sluice.waitForStat('http2.outbound_control_frames_active', (value) => value === 0);
}

describe('what waits for a client of HTTP/2', () => {
  it('is bytes, while the window of a stream is shut', async () => {
    await using stage = await proxyTo(100_000);
    const { sluice } = stage;
    const client = await openFrames(stage.port);
    client.send(headersFrame(1, GET));
    await sluice.waitForStat('http2.pending_send_bytes', (value) => value === 100_000 - 65_535);
    assert.equal(await sluice.stat('http2.outbound_frames_active'), 0);
    client.send(windowUpdateFrame(0, 10_000) + windowUpdateFrame(1, 10_000));
    await sluice.waitForStat('http2.pending_send_bytes', (value) => value === 24_465);
    client.destroy();
    await nothingWaits(stage);
  });

  it('is frames, while the connection takes no more', async () => {
    await using stage = await proxyTo(LONG);
    const { sluice } = stage;
    const client = await openFrames(stage.port);
    client.socket.pause();
    askWithoutWindow(client);
    await sluice.waitForStat('http2.outbound_frames_active', (value) => value > 16);
    for (let at = 0; at < PINGS; at++) client.send(pingFrame('12345678', false));
    await sluice.waitForStat('http2.outbound_control_frames_active', (value) => value === PINGS);
    client.socket.resume();
    await client.until((text) => text.length > LONG);
    await client.until((text) => framesOf(text).filter(({ type }) => type === 6).length === PINGS);
    await nothingWaits(stage);
    client.destroy();
  });

  it('is no flood of the client, however small the chunks are in which it came', async () => {
    await using stage = await proxyToChunks(LONG / 64);
    const { sluice } = stage;
    const client = await openFrames(stage.port);
    client.socket.pause();
    askWithoutWindow(client);
    // Chunks that were read together are sent on together.
    await sluice.waitForStat('http2.outbound_frames_active', (value) => value > 16);
    client.socket.resume();
    await sluice.waitForStat('http.web.downstream_rq_completed', (value) => value === 1);
    await nothingWaits(stage);
    assert.equal(await sluice.stat('http2.outbound_flood'), 0);
    assert.equal(await sluice.stat('http2.tx_reset'), 0);
    client.destroy();
  });

  it('is gone with the connection', async () => {
    await using stage = await proxyTo(LONG);
    const { sluice } = stage;
    const client = await openFrames(stage.port);
    client.socket.pause();
    askWithoutWindow(client);
    await sluice.waitForStat('http2.outbound_frames_active', (value) => value > 16);
    client.socket.resetAndDestroy();
    await nothingWaits(stage);
  });
});

/** Windows hold nothing up: only the connection does. */
function askWithoutWindow(client: RawConnection): void {
  const window = settingsFrame([[INITIAL_WINDOW_SIZE, LARGEST_WINDOW]]);
  client.send(window + windowUpdateFrame(0, LARGEST_WINDOW - 65_535));
  client.send(headersFrame(1, GET));
}
