/**
 * Filters about what is known of a request: metadata, sessions, and filters that are off by
 * default.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { ask, withFilter } from './with-filter.ts';

describe('a filter that is off by default', () => {
  it('sees only requests whose route has settings for it', async () => {
    await using upstream = await startHttpUpstream();
    const option = {
      name: 'x-seen',
      format: 'yes',
      appendAction: 'APPEND_IF_EXISTS_OR_ADD',
      keepEmptyValue: false,
    } as const;
    const nothing = {
      request: [],
      requestTrailers: [],
      response: [],
      responseTrailers: [],
      mostSpecificWins: false,
    };
    const options = { ...nothing, response: [{ kind: 'append', option }] } as const;
    await using plane = await startDataPlane(
      withFilter(
        { kind: 'header_mutation', name: 'mutate', options, isOffByDefault: true },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/on'), toCluster(), {
              typedPerFilterConfig: new Map([['mutate', nothing]]),
            }),
            route(prefix('/'), toCluster()),
          ],
        },
      ),
    );
    assert.match(await ask(plane.port, '/on'), /\r\nx-seen: yes\r\n/);
    assert.doesNotMatch(await ask(plane.port, '/'), /x-seen/);
  });
});

// Recorded from Envoy 1.40.0.
describe('settings of several levels of a route', () => {
  const added = (value: string) =>
    ({
      request: [],
      requestTrailers: [],
      response: [
        {
          kind: 'append',
          option: {
            name: 'x-level',
            format: value,
            appendAction: 'APPEND_IF_EXISTS_OR_ADD',
            keepEmptyValue: false,
          },
        },
      ],
      responseTrailers: [],
      mostSpecificWins: false,
    }) as const;

  it('change headers one after the other, the least specific last unless told otherwise', async () => {
    await using upstream = await startHttpUpstream();
    for (const mostSpecificWins of [false, true]) {
      const options = { ...added('chain'), mostSpecificWins };
      const own = { typedPerFilterConfig: new Map([['mutate', added('route')]]) };
      await using plane = await startDataPlane(
        withFilter(
          { kind: 'header_mutation', name: 'mutate', options },
          {
            upstreamPorts: [upstream.port],
            routes: [route(prefix('/'), toCluster(), own)],
            virtualHost: { typedPerFilterConfig: new Map([['mutate', added('host')]]) },
          },
        ),
      );
      const seen = [...(await ask(plane.port, '/')).matchAll(/x-level: (\w+)/g)];
      assert.deepEqual(
        seen.map(([, value]) => value),
        mostSpecificWins ? ['chain', 'host', 'route'] : ['chain', 'route', 'host'],
      );
    }
  });

  it('are one CORS policy, and those outside of filter settings count where there is no other', async () => {
    await using upstream = await startHttpUpstream();
    const policy = { allowMethods: '', allowHeaders: '', exposeHeaders: '', maxAge: '' } as const;
    const origins = [{ kind: 'exact', value: 'http://a', ignoreCase: false }] as const;
    await using plane = await startDataPlane(
      withFilter(
        { kind: 'cors', name: 'cors', options: {} },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/older'), toCluster()),
            route(prefix('/'), toCluster(), {
              typedPerFilterConfig: new Map([['cors', { ...policy, allowOrigins: origins }]]),
            }),
          ],
          virtualHost: {
            cors: { ...policy, allowOrigins: origins, exposeHeaders: 'x-older' },
          },
        },
      ),
    );
    const origin = 'Origin: http://a\r\n';
    assert.match(await ask(plane.port, '/older', origin), /expose-headers: x-older\r\n/);
    const typed = await ask(plane.port, '/', origin);
    assert.match(typed, /access-control-allow-origin: http:\/\/a\r\n/);
    assert.doesNotMatch(typed, /expose-headers/);
  });
});

describe('an answer of a filter', () => {
  it('carries the headers that its route adds to responses', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane(
      withFilter(
        { kind: 'buffer', name: 'buffer', options: { maxRequestBytes: 1 } },
        {
          upstreamPorts: [upstream.port],
          virtualHost: {
            responseHeaders: {
              add: [
                {
                  name: 'x-route',
                  format: '%RESPONSE_CODE_DETAILS%',
                  appendAction: 'APPEND_IF_EXISTS_OR_ADD',
                  keepEmptyValue: false,
                },
              ],
              remove: [],
            },
          },
        },
      ),
    );
    const answer = await ask(plane.port, '/', 'Content-Length: 3\r\n\r\nabc');
    assert.match(answer, /^HTTP\/1\.1 413 /);
    assert.match(answer, /\r\nx-route: request_payload_too_large\r\n/);
  });
});

describe('a log with more moments', () => {
  it('has a line when a request begins, one now and then, and one at its end', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      setTimeout(() => response.end('late'), 160);
    });
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    const format = {
      kind: 'text',
      format: '%ACCESS_LOG_TYPE% %RESPONSE_CODE%\n',
      omitEmptyValues: false,
    } as const;
    const plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: {
        accessLogs: [{ kind: 'lines', sink: { kind: 'file', path }, format }],
        logMoments: { newRequest: true, tunnelEstablished: false, intervalMs: 20 },
      },
    });
    await ask(plane.port, '/');
    await plane.close();
    assert.match(
      readFileSync(path, 'utf8'),
      /^DownstreamStart 0\n(DownstreamPeriodic 0\n)+DownstreamEnd 200\n$/,
    );
  });
});
