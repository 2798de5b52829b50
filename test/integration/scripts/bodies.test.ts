import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';

/** Whole bodies, trailers, and requests of its own that are tried again. */
const MODULE = `
import { defineFilter } from 'sluice/filter';
export default defineFilter({
  create: (_, context) => ({
    async onRequestHeaders(headers, stream) {
      if (headers.path !== '/fetch') return undefined;
      const { status, headers: fields, body } = await stream.fetch('up', { path: '/flaky', retries: 2 });
      const failed = await context.fetch('nobody').catch((error) => [error.name, error.status]);
      return { status: 200, body: JSON.stringify({ status, by: fields.get('x-by'), body: String(body), failed }) };
    },
    onRequestBody: (body) => Buffer.from(body).reverse(),
    onRequestTrailers: (trailers) => trailers.set('x-added', String(trailers.get('x-trailer')).toUpperCase()),
    onResponseBody: async (body) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return '[' + Buffer.from(body).toString() + ']';
    },
    onResponseTrailers: (trailers) => trailers.set('x-checked', 'yes'),
  }),
});
`;

describe('bodies and trailers of a script', () => {
  it('are given whole and replaced, and bodies that are too large are refused', async () => {
    let asked = 0;
    let trailersSeen: NodeJS.Dict<string> = {};
    await using upstream = await startHttpUpstream((request, response) => {
      request
        .on('data', () => undefined)
        .on('end', () => {
          trailersSeen = request.trailers;
          if (request.url === '/flaky' && ++asked < 3) return void response.writeHead(503).end();
          if (request.url === '/large') return void response.end('x'.repeat(40_000));
          response.setHeader('trailer', 'x-sum').setHeader('x-by', 'up').write('one');
          response.write(' two');
          response.addTrailers({ 'x-sum': '7' });
          response.end();
        });
    });
    await using server = await startScriptServer({
      module: MODULE,
      upstreamPort: upstream.port,
      listener: { per_connection_buffer_limit_bytes: 20_000 },
    });
    const answer = await server.get('/', {
      method: 'POST',
      body: 'abc',
      headers: { 'transfer-encoding': 'chunked', trailer: 'x-trailer' },
    });
    assert.equal(answer.body, '[one two]');
    assert.equal(upstream.requests[0]?.body, 'cba');
    assert.deepEqual(trailersSeen, {});
    const large = await server.get('/', { method: 'POST', body: 'x'.repeat(40_000) });
    // The answer passes the filter, as every other one.
    assert.deepEqual([large.status, large.body], [413, '[Payload Too Large]']);
    assert.equal((await server.get('/large')).status, 500);
    const fetched = JSON.parse((await server.get('/fetch')).body) as unknown;
    const failed = ['FetchError', 503];
    assert.deepEqual(fetched, [{ status: 200, by: 'up', body: 'one two', failed }]);
    assert.equal(asked, 3);
    assert.equal(await server.stat('errors'), 0);
  });
});
