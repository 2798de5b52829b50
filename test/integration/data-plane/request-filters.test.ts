/** Filters about what is known of a request: metadata, sessions, and filters that are off by default. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type { HttpFilter } from '../../../shared/resources/http-filters.ts';
import { type DataPlaneSetup, startDataPlane } from '../../support/data-plane.ts';
import { openRaw } from '../../support/raw-client.ts';
import { prefix, route, toCluster } from '../../support/routes.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startHttpUpstream } from '../../support/upstream.ts';

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
    const plane = await startDataPlane(
      withFilter(
        {
          kind: 'set_metadata',
          name: 'meta',
          options: [
            entry(false, { list: [1], text: 'a', inner: { p: 1 } }),
            entry(false, { list: [2] }),
            entry(true, { list: [3], text: 'b', inner: { q: 2 } }),
          ],
        },
        {
          upstreamPorts: [upstream.port],
          manager: { accessLogs: [{ sink: { kind: 'file', path }, format }] },
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
            route(prefix('/strict'), toCluster(), { typedPerFilterConfig: { session: strict } }),
            route(prefix('/off'), toCluster(), { typedPerFilterConfig: { session: {} } }),
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
    const options = { request: [], response: [{ kind: 'append', option }] } as const;
    const nothing = { request: [], response: [] };
    await using plane = await startDataPlane(
      withFilter(
        { kind: 'header_mutation', name: 'mutate', options, isOffByDefault: true },
        {
          upstreamPorts: [upstream.port],
          routes: [
            route(prefix('/on'), toCluster(), { typedPerFilterConfig: { mutate: nothing } }),
            route(prefix('/'), toCluster()),
          ],
        },
      ),
    );
    assert.match(await ask(plane.port, '/on'), /\r\nx-seen: yes\r\n/);
    assert.doesNotMatch(await ask(plane.port, '/'), /x-seen/);
  });
});
