/** The filter header_to_metadata; values and counts are those of Envoy for the same requests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import type {
  HeaderToMetadataRule,
  MetadataEntry,
} from '../../../shared/resources/filters/http/header-to-metadata.ts';
import type { HttpFilter } from '../../../shared/resources/filters/http-filters.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { prefix, regex, route, toCluster } from '../../support/parts/routes.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { makeScratch } from '../../support/scratch.ts';

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

function entry(key: string, settings: Partial<MetadataEntry> = {}): MetadataEntry {
  return { namespace: 'ns', key, type: 'string', isBase64: false, ...settings };
}

function header(
  name: string,
  rule: Omit<HeaderToMetadataRule, 'source'>,
  removes = false,
): HeaderToMetadataRule {
  return { source: { kind: 'header', name, removes }, ...rule };
}

const REWRITE = { regex: regex('^/([a-z]*).*$'), substitution: '\\1' };

const REQUEST_RULES: readonly HeaderToMetadataRule[] = [
  header('x-a', { onPresent: entry('a') }),
  header('x-num', { onPresent: entry('num', { type: 'number' }) }),
  header('x-b64', { onPresent: entry('b64', { isBase64: true }) }),
  header('x-pv', { onPresent: entry('pv', { isBase64: true, type: 'protobuf' }) }),
  header('x-rm', { onPresent: entry('rm') }, true),
  header('x-const', {
    onPresent: entry('const', { value: 'yes' }),
    onMissing: entry('const', { value: 'no' }),
  }),
  {
    source: { kind: 'cookie', name: 'sid' },
    onPresent: entry('sid'),
    onMissing: entry('sid', { value: 'anon' }),
  },
];

async function startWith(
  requestRules: readonly HeaderToMetadataRule[],
  responseRules: readonly HeaderToMetadataRule[] = [],
) {
  const scratch = makeScratch();
  const path = scratch.file('access.log');
  const upstream = await startHttpUpstream((request, response) => {
    if (request.url === '/says') response.setHeader('x-said', 'word');
    response.end(String(request.headers['x-rm']));
  });
  const ofRoute = {
    statPrefix: '',
    requestRules: [header('x-a', { onPresent: entry('own') })],
    responseRules: [],
  };
  const plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: {
      filters: [
        {
          kind: 'header_to_metadata',
          name: 'meta',
          options: { statPrefix: 'pre', requestRules, responseRules },
        },
        ROUTER,
      ],
      accessLogs: [
        {
          kind: 'lines',
          sink: { kind: 'file', path },
          format: { kind: 'text', format: '%DYNAMIC_METADATA(ns)%\n', omitEmptyValues: false },
        },
      ],
    },
    routes: [
      route(prefix('/own'), toCluster(), { typedPerFilterConfig: new Map([['meta', ofRoute]]) }),
      route(prefix('/'), toCluster()),
    ],
  });
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= plane.close());
  return {
    stats: () => plane.stats(),
    /** The answer's text. */
    async ask(path: string, ...headers: readonly string[]): Promise<string> {
      const client = await openRaw(plane.port);
      const lines = [`GET ${path} HTTP/1.1`, 'Host: h', ...headers, 'Connection: close', '', ''];
      client.send(lines.join('\r\n'));
      const answer = await client.closed();
      client.destroy();
      return answer;
    },
    /** What each request's namespace was; ends the proxy, so that all is written. */
    async written(): Promise<readonly unknown[]> {
      await close();
      const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
      return lines.map((line): unknown => (line === '-' ? undefined : JSON.parse(line)));
    },
    async [Symbol.asyncDispose]() {
      await close();
      await upstream[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

describe('header_to_metadata', () => {
  it('writes headers and cookies of requests', async () => {
    await using proxy = await startWith(REQUEST_RULES);
    const usual = { const: 'no', sid: 'anon' };
    const cases: readonly (readonly [headers: readonly string[], metadata: object])[] = [
      [[], usual],
      [['x-a: one', 'x-a: two'], { ...usual, a: 'one,two' }],
      [['x-a:'], usual],
      [['x-const:'], { ...usual, const: 'yes' }],
      [['x-num: 0x10'], { ...usual, num: 16 }],
      [['x-num: ten'], usual],
      [['x-num: inf'], { ...usual, num: null }],
      [['x-b64: aGk='], { ...usual, b64: 'hi' }],
      [['x-b64: !'], usual],
      [['x-pv: KgoKCAoBaxIDGgF4'], { ...usual, pv: { k: 'x' } }],
      [['x-pv: Gg=='], usual],
      [['cookie: x=y; sid="q"'], { ...usual, sid: 'q' }],
      [['cookie: sid='], usual],
      [[`x-a: ${'v'.repeat(8191)}`], { ...usual, a: 'v'.repeat(8191) }],
      [[`x-a: ${'v'.repeat(8192)}`], usual],
    ];
    for (const [headers] of cases) await proxy.ask('/', ...headers);
    const stats = proxy.stats();
    const count = (name: string): unknown => stats.get(`http_filter_name.pre.${name}`);
    assert.equal(count('request_rules_processed'), cases.length * REQUEST_RULES.length);
    assert.equal(count('request_header_not_found'), 2 * cases.length - 2);
    assert.equal(count('request_metadata_added'), 2 * cases.length + 6);
    assert.equal(count('base64_decode_failed'), 1);
    assert.equal(count('header_value_too_long'), 1);
    assert.equal(count('response_rules_processed'), undefined);
    assert.deepEqual(
      await proxy.written(),
      cases.map(([, metadata]) => metadata),
    );
  });

  it('removes what it is to remove, on the way to the host', async () => {
    await using proxy = await startWith(REQUEST_RULES);
    assert.match(await proxy.ask('/', 'x-rm: gone'), /undefined$/);
    assert.match(await proxy.ask('/own', 'x-rm: kept', 'x-a: z'), /kept$/);
    assert.deepEqual(await proxy.written(), [
      { rm: 'gone', const: 'no', sid: 'anon' },
      { own: 'z' },
    ]);
  });

  it('rewrites values, and writes none that a rewrite empties', async () => {
    await using proxy = await startWith([
      header(':path', { onPresent: entry('first', { rewrite: REWRITE }) }),
    ]);
    await proxy.ask('/segment/other?query');
    await proxy.ask('/');
    assert.equal(proxy.stats().get('http_filter_name.pre.regex_substitution_failed'), 1);
    assert.deepEqual(await proxy.written(), [{ first: 'segment' }, undefined]);
  });

  it('writes headers of responses, and removes them on the way to the client', async () => {
    await using proxy = await startWith(
      [],
      [
        header(
          'x-said',
          { onPresent: entry('said'), onMissing: entry('said', { value: 'nothing' }) },
          true,
        ),
        header(':status', { onPresent: entry('status', { type: 'number' }) }),
      ],
    );
    assert.doesNotMatch(await proxy.ask('/says'), /x-said/);
    await proxy.ask('/');
    const stats = proxy.stats();
    assert.equal(stats.get('http_filter_name.pre.response_rules_processed'), 4);
    assert.equal(stats.get('http_filter_name.pre.response_header_not_found'), 1);
    assert.equal(stats.get('http_filter_name.pre.response_metadata_added'), 4);
    assert.deepEqual(await proxy.written(), [
      { said: 'word', status: 200 },
      { said: 'nothing', status: 200 },
    ]);
  });
});
