import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startScriptServer } from '../../support/scripts/script-server.ts';

const PER_ROUTE = 'type.googleapis.com/sluice.filters.http.script.v1.ScriptPerRoute';

const MODULE = `
import { createHash } from 'node:crypto';
import { defineFilter, object, string } from 'sluice/filter';
import { ending } from './ending.ts';

interface State { timers: number }

export default defineFilter({
  schema: object({ header: string(), mode: string().optional('none') }),
  state: (): State => ({ timers: 0 }),
  create(settings, context) {
    const paths = context.counter('paths');
    const lengths = context.histogram('lengths');
    const ends = context.counter('ends');
    return {
      async onRequestHeaders(headers, stream) {
        paths.add();
        const hash = createHash('sha256').update(headers.path).digest('hex');
        headers.set(settings.header, hash.slice(0, 8) + ending);
        headers.set('x-mode', settings.mode);
        stream.setMetadata('mine', 'hash', hash);
        stream.setFilterState('mine.hash', hash);
        if (headers.path === '/refused') {
          return { status: 403, body: 'not you', headers: { 'x-why': ['a', 'b'] } };
        }
        if (headers.path === '/asked') {
          const answer = await stream.fetch('up', { path: '/token', headers: { 'x-ask': '1' } });
          headers.set('x-token', answer.text());
        }
        if (headers.path === '/later') {
          await new Promise<void>((resolve) => stream.after(5, resolve));
          stream.state.timers += 1;
        }
        return undefined;
      },
      onRequestBody: (body) => Buffer.from(body).toString().toUpperCase() + '!',
      onResponseHeaders(headers, stream) {
        headers.set('x-facts', [
          stream.route?.cluster, stream.connection.listener, stream.state.timers,
          stream.getMetadata('mine', 'hash') === stream.getFilterState('mine.hash'),
        ].join(' '));
        headers.delete('x-secret');
      },
      onResponseChunk(chunk, _stream, isLast) {
        lengths.record(chunk.length);
        return isLast ? Buffer.concat([chunk, Buffer.from('.')]) : undefined;
      },
      onEnd: () => ends.add(),
    };
  },
});
`;

describe('a filter in TypeScript', () => {
  it('reads and changes requests and responses, answers, fetches, waits and counts', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.on('end', () => {
        response.setHeader('x-secret', 's').write('hello');
        response.end(request.url === '/token' ? '' : ' you');
      });
      request.resume();
    });
    const routes = [
      {
        match: { path: '/off' },
        route: { cluster: 'up' },
        typed_per_filter_config: { mine: { '@type': PER_ROUTE, disabled: true } },
      },
      {
        match: { path: '/own' },
        route: { cluster: 'up' },
        typed_per_filter_config: {
          mine: { '@type': PER_ROUTE, settings: { header: 'x-hash', mode: 'own' } },
        },
      },
      { match: { prefix: '/' }, route: { cluster: 'up' } },
    ];
    await using server = await startScriptServer({
      module: MODULE,
      files: { 'ending.ts': "export const ending: string = '-end';" },
      fields: { settings: { header: 'x-hash' } },
      upstreamPort: upstream.port,
      routes,
    });
    const plain = await server.get('/a', { method: 'POST', body: 'body' });
    assert.equal(plain.body, 'hello you.');
    assert.equal(plain.headers['x-facts'], 'up web 0 true');
    assert.equal(plain.headers['x-secret'], undefined);
    const seen = upstream.requests[0] ?? assert.fail();
    assert.deepEqual(
      [seen.body, seen.headers['x-hash'], seen.headers['content-length']],
      ['BODY!', `${createHash('sha256').update('/a').digest('hex').slice(0, 8)}-end`, '5'],
    );
    const refused = await server.get('/refused');
    assert.deepEqual([refused.status, refused.headers['x-why']], [403, 'a, b']);
    assert.match(refused.body, /^not you/);
    await server.get('/asked');
    assert.equal(upstream.requests.at(-1)?.headers['x-token'], 'hello');
    assert.equal((await server.get('/later')).headers['x-facts'], 'up web 1 true');
    assert.equal((await server.get('/off')).headers['x-secret'], 's');
    await server.get('/own');
    assert.equal(upstream.requests.at(-1)?.headers['x-mode'], 'own');
    assert.deepEqual(
      [await server.stat('paths'), await server.stat('requests'), await server.stat('ends')],
      [5, 5, 5],
    );
    assert.deepEqual([await server.stat('replies'), await server.stat('errors')], [1, 0]);
  });
});
