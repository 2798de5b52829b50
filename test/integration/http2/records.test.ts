/**
 * Frames that come in several TLS records at once: as over plain TCP, streams that are answered
 * within them are still open for the frames behind.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { bootstrap, GREETING } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { certificateFiles, secureListener, tlsSocket } from '../../support/parts/tls.ts';
import {
  dataFrame,
  type Fields,
  framesOf,
  GET,
  headersFrame,
  PREFACE,
} from '../../support/peers/http2-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil, within } from '../../support/wait.ts';
import { Flag, FrameType, pingFrame } from '../../../workers/http2/frames.ts';

const PING = '12345678';
/** As long as a record may be: what follows is in another one. */
const BODY = dataFrame(1, 'x'.repeat(16 * 1024)) + dataFrame(1, 'x', Flag.endStream);

describe('an HTTP/2 request in two TLS records', () => {
  it('is not reset by an answer that is made of the first', async () => {
    await using served = await serve();
    const text = await sendAtOnce(served.port, post() + BODY + pingFrame(PING, false));
    const types = framesOf(text).flatMap(({ stream, type }) => (stream === 1 ? [type] : []));
    assert.deepEqual(types, [FrameType.headers, FrameType.data]);
  });

  it('is judged by the second', async () => {
    await using served = await serve();
    await sendAtOnce(served.port, post(['content-length', '99999']) + BODY);
    const stats = await served.sluice.stats('filter=rx_messaging_error');
    assert.match(stats, /rx_messaging_error: 1/);
  });
});

function post(...more: Fields): string {
  return headersFrame(1, [[':method', 'POST'], ...GET.slice(1), ...more], 0);
}

/** What comes back until the answer of a ping, or the end. */
async function sendAtOnce(port: number, frames: string): Promise<string> {
  const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  let text = '';
  let isOver = false;
  client.on('data', (piece: Buffer) => (text += piece.toString('latin1')));
  client.on('close', () => (isOver = true));
  client.on('error', () => undefined);
  await within('handshake', once(client, 'secureConnect'));
  client.write(PREFACE, 'latin1');
  await waitUntil('the settings', () => framesOf(text).length >= 2);
  client.write(Buffer.from(frames, 'latin1'));
  await waitUntil('the answer', () => isOver || text.includes(PING));
  client.destroy();
  return text;
}

interface Served extends AsyncDisposable {
  readonly sluice: Sluice;
  readonly port: number;
}

async function serve(): Promise<Served> {
  const scratch = makeScratch();
  const leaf = makeAuthority(scratch.path).issue('s', 'DNS:s.test');
  const context = { tls_certificates: [certificateFiles(leaf)] };
  const socket = tlsSocket('Downstream', { common_tls_context: context });
  const listener = secureListener(GREETING, socket);
  const sluice = await startSluice({ bootstrap: bootstrap({ listeners: [listener] }) });
  return {
    sluice,
    port: await sluice.listenerPort('web'),
    async [Symbol.asyncDispose]() {
      await sluice[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}
