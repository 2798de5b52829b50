/**
 * Filters about what is known of a request: metadata, sessions, and filters that are off by
 * default.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { type DataPlaneSetup, startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { prefix, route, toCluster } from '../../support/parts/routes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const ROUTER: HttpFilter = {
  kind: 'router',
  name: 'router',
  options: {
    suppressEnvoyHeaders: false,
    respectExpectedRqTimeout: false,
    upstreamLogs: [],
    dynamicStats: true,
    startChildSpan: false,
  },
};

async function ask(port: number, path: string, headers = ''): Promise<string> {
  const client = await openRaw(port);
  client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n${headers}Connection: close\r\n\r\n`);
  const answer = await client.closed();
  client.destroy();
  return answer;
}

function withFilter(filter: HttpFilter, setup: DataPlaneSetup): DataPlaneSetup {
  return { ...setup, manager: { ...setup.manager, filters: [filter, ROUTER] } };
}

describe('set_metadata', () => {
  it('adds, merges where it may, and counts where it may not', async () => {
    using scratch = makeScratch();
    const path = scratch.file('access.log');
    const entry = (allowOverwrite: boolean, value: Record<string, unknown>) => ({
      namespace: 'ns',
      allowOverwrite,
      value,
    });
    const format = {
      kind: 'text',
      format: '%DYNAMIC_METADATA(ns)%\n',
      omitEmptyValues: false,
    } as const;
    await using upstream = await startHttpUpstream();
    const untyped = [
      entry(false, { list: [1], text: 'a', inner: { p: 1 } }),
      entry(false, { list: [2] }),
      entry(true, { list: [3], text: 'b', inner: { q: 2 } }),
    ];
    const plane = await startDataPlane(
      withFilter(
        { kind: 'set_metadata', name: 'meta', options: { untyped, typed: [] } },
        {
          upstreamPorts: [upstream.port],
          manager: { accessLogs: [{ kind: 'lines', sink: { kind: 'file', path }, format }] },
        },
      ),
    );
    await ask(plane.port, '/');
    assert.equal(plane.stats().get('http.web.set_metadata.overwrite_denied'), 1);
    await plane.close();
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
      list: [1, 3],
      text: 'b',
      inner: { p: 1, q: 2 },
    });
  });
});

describe('set_filter_state', () => {
  it('keeps values of the chain, then of the route, and has the route chosen again', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      response.end(String(request.headers['x-kept']));
    });
    const value = (key: string, format: string, skipsEmpty = false) =>
      ({
        key,
        format: { kind: 'text', format, omitEmptyValues: true },
        skipsEmpty,
        isReadOnly: false,
        isHashable: false,
      }) as const;
    const ofRoute = {
      onRequestHeaders: [value('k', 'r-%FILTER_STATE(k:PLAIN)%')],
      clearsRoute: false,
    };
    const kept = {
      name: 'x-kept',
      format: '%FILTER_STATE(k:PLAIN)% [%FILTER_STATE(e:PLAIN)%]',
      appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
      keepEmptyValue: false,
    } as const;
    const requestHeaders = { add: [kept], remove: [] };
    const match = {
      kind: 'string',
      matcher: { kind: 'exact', value: 'zz', ignoreCase: false },
    } as const;
    await using plane = await startDataPlane(
      withFilter(
        {
          kind: 'set_filter_state',
          name: 'state',
          options: {
            onRequestHeaders: [value('k', '%REQ(a)%'), value('e', '%REQ(none)%', true)],
            clearsRoute: true,
          },
        },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/route'), toCluster(), {
              requestHeaders,
              typedPerFilterConfig: new Map([['state', ofRoute]]),
            }),
            route(prefix('/'), toCluster(), { match: { filterState: [{ key: 'k', match }] } }),
            route(prefix('/'), toCluster(), { requestHeaders }),
          ],
        },
      ),
    );
    assert.match(await ask(plane.port, '/', 'a: b\r\n'), /\r\nb \[-?\]$/);
    assert.match(await ask(plane.port, '/', 'a: zz\r\n'), /\r\nundefined$/);
    assert.match(await ask(plane.port, '/route', 'a: b\r\n'), /\r\nr-b \[-?\]$/);
  });
});

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
    await using plane = await startDataPlane(
      withFilter(
        { ...filter, options: { state, strict: false } },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/strict'), toCluster(), {
              typedPerFilterConfig: new Map([['session', strict]]),
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
    assert.doesNotMatch(await ask(plane.port, '/off', gone), /x-host/);
  });
});

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
