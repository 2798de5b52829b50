/**
 * Filters about what is known of a request: metadata, sessions, and filters that are off by
 * default.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { ask, withFilter } from './with-filter.ts';

describe('stateful_session', () => {
  const cookie = { name: 'sess', path: '/app', ttlMs: 60_000, attributes: [] };
  const options = { state: { kind: 'cookie', cookie }, strict: false } as const;
  const filter: HttpFilter = { kind: 'stateful_session', name: 'session', options };

  it('brings a client back to its host by a cookie for the path', async () => {
    await using one = await startHttpUpstream((_, response) => response.end('one'));
    await using two = await startHttpUpstream((_, response) => response.end('two'));
    await using plane = await startDataPlane(
      withFilter(filter, { upstreamPorts: [one.port, two.port] }),
    );
    const first = await ask(plane.port, '/app/x');
    const made = /set-cookie: (sess="[^"]+"); Max-Age=60; Path=\/app; HttpOnly/.exec(first)?.[1];
    const answers = [];
    for (let round = 0; round < 4; round++) {
      answers.push(await ask(plane.port, '/app', `Cookie: ${made}\r\n`));
    }
    const host = first.slice(-3);
    assert.deepEqual([...new Set(answers.map((answer) => answer.slice(-3)))], [host]);
    assert.ok(answers.every((answer) => !answer.includes('set-cookie')));
    assert.doesNotMatch(await ask(plane.port, '/apple'), /set-cookie/);
  });

  it('goes elsewhere when the host is gone, unless it is strict', async () => {
    await using upstream = await startHttpUpstream();
    const state = { kind: 'header', name: 'x-host' } as const;
    const strict = { session: { state, strict: true } };
    const own = { session: { state, strict: true, strictStatus: 410, statScope: 'own.' } };
    await using plane = await startDataPlane(
      withFilter(
        { ...filter, options: { state, strict: false } },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/strict'), toCluster(), {
              typedPerFilterConfig: new Map([['session', strict]]),
            }),
            route(prefix('/own'), toCluster(), {
              typedPerFilterConfig: new Map([['session', own]]),
            }),
            route(prefix('/off'), toCluster(), {
              typedPerFilterConfig: new Map([['session', {}]]),
            }),
            route(prefix('/'), toCluster()),
          ],
        },
      ),
    );
    const gone = `x-host: ${Buffer.from('127.0.0.1:1').toString('base64')}\r\n`;
    const here = Buffer.from(`127.0.0.1:${upstream.port}`).toString('base64');
    assert.ok((await ask(plane.port, '/', gone)).includes(`\r\nx-host: ${here}\r\n`));
    assert.match(await ask(plane.port, '/strict', gone), /^HTTP\/1\.1 503 /);
    assert.match(await ask(plane.port, '/own', gone), /^HTTP\/1\.1 410 [^]*no healthy upstream$/);
    await ask(plane.port, '/own', `x-host: ${here}\r\n`);
    assert.equal(plane.stats().get('own.failed_closed'), 1);
    assert.equal(plane.stats().get('own.routed'), 1);
    assert.doesNotMatch(await ask(plane.port, '/off', gone), /x-host/);
  });
});
