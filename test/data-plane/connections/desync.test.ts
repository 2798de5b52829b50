/**
 * Messages that two parsers could read differently: each is either refused, with nothing of it on
 * the other side, or passed on as exactly one message with framing that has one reading. A raw
 * upstream records what arrives.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import {
  PASSED_REQUESTS,
  PASSED_RESPONSES,
  REFUSED_REQUESTS,
  REFUSED_RESPONSES,
} from '../../support/peers/desync-corpus.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';

async function send(bytes: string): Promise<{ readonly answer: string; readonly got: string }> {
  await using upstream = await startRawUpstream((socket, received) => {
    socket.on('data', () => {
      if (!isWhole(received())) return;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    });
  });
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: { codec: 'HTTP1', delayedCloseTimeoutMs: 1 },
  });
  const client = await openRaw(plane.port);
  client.send(Buffer.from(bytes, 'latin1'));
  const answer = await client.until(/^HTTP\/1\.[01] \d+ [^]*\r\n\r\n/);
  client.destroy();
  return { answer, got: upstream.received.join('') };
}

/** A request whose framing is the simplest there is: what this proxy writes. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/.exec(text)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return !/\r\ntransfer-encoding: chunked\r\n/.test(text) || text.endsWith('0\r\n\r\n');
}

/** One request to an upstream that answers these bytes; everything that the client gets. */
async function answerWith(bytes: string): Promise<string> {
  await using upstream = await startRawUpstream((socket, received) => {
    socket.on('data', () => {
      if (isWhole(received())) socket.end(Buffer.from(bytes, 'latin1'));
    });
  });
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: { delayedCloseTimeoutMs: 1 },
  });
  const client = await openRaw(plane.port);
  client.send('GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  return await client.closed();
}

describe('an ambiguous request', () => {
  for (const [title, bytes] of REFUSED_REQUESTS) {
    it(`is refused and sends nothing whole upstream: ${title}`, async () => {
      const { answer, got } = await send(bytes);
      assert.match(answer, /^HTTP\/1\.[01] (400|403|404|426|431|501) /);
      assert.ok(!isWhole(got), JSON.stringify(got));
      assert.doesNotMatch(got, /smuggled/);
    });
  }

  for (const [title, bytes, body] of PASSED_REQUESTS) {
    it(`reaches the upstream as one request: ${title}`, async () => {
      const { answer, got } = await send(bytes);
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.equal(got.slice(got.indexOf('\r\n\r\n') + 4), body);
      const framings = got.match(/\r\n(content-length|transfer-encoding):/g) ?? [];
      assert.ok(framings.length <= 1, got);
      assert.doesNotMatch(
        got,
        /\r\n(upgrade|http2-settings|keep-alive|proxy-connection|x-secret):/,
      );
    });
  }
});

describe('an ambiguous response', () => {
  for (const [title, bytes] of REFUSED_RESPONSES) {
    it(`is not passed on whole: ${title}`, async () => {
      const answer = await answerWith(bytes);
      const isBroken = /^HTTP\/1\.1 200 .*\r\n\r\n/s.test(answer) && !answer.endsWith('0\r\n\r\n');
      assert.ok(/^HTTP\/1\.1 50[23] /.test(answer) || isBroken, answer);
      assert.doesNotMatch(answer, /hidden/);
    });
  }

  for (const [title, bytes, body] of PASSED_RESPONSES) {
    it(`reaches the client as one answer: ${title}`, async () => {
      const answer = await answerWith(bytes);
      assert.match(answer, /^HTTP\/1\.1 (200|204|304|103) /);
      assert.ok(answer.endsWith(`\r\n\r\n${body}`), answer);
      assert.doesNotMatch(answer, /hidden/);
    });
  }
});
