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
