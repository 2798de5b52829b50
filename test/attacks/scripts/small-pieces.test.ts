/** Bodies in chunks of a byte, in front of modules that take their time or take each piece. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';

const MODULE = `
import { defineFilter } from 'sluice/filter';

export default defineFilter({
  create: () => ({
    async onRequestHeaders(headers, stream) {
      if (headers.path !== '/waits') return;
      await new Promise((resolve) => stream.after(300, resolve));
    },
    onRequestChunk(chunk, stream) {
      if (stream.request.path === '/slow' && !stream.isSlow) {
        stream.isSlow = true;
        return new Promise((resolve) => stream.after(300, resolve));
      }
      return undefined;
    },
  }),
});
`;

describe('a module in front of bodies in chunks of a byte', () => {
  it('is given all of them, in their order', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.on('end', () => response.end('hello'));
    });
    await using server = await startScriptServer({ module: MODULE, upstreamPort: upstream.port });
    const count = attackRuns(30_000, 300_000);
    const body = Array.from({ length: count }, (_, at) => String.fromCharCode(97 + (at % 26))).join(
      '',
    );
    const chunks = body.replaceAll(/./g, '1\r\n$&\r\n');
    for (const path of ['/waits', '/slow', '/at-once']) {
      const client = await openRaw(await server.sluice.listenerPort('web'));
      client.send(
        `POST ${path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      client.send(`${chunks}0\r\n\r\n`);
      assert.match(await client.closed(), /^HTTP\/1\.1 200 /, path);
      assert.equal(upstream.requests.at(-1)?.body === body, true, path);
    }
    assert.equal(await server.stat('failed_closed'), 0);
    assert.equal(await server.sluice.stat('sluice.worker.exceptions'), 0);
  });
});
