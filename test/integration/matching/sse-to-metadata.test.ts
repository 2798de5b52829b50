/** The filter sse_to_metadata through the whole program; what is written is what Envoy writes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const entry = (key: string, more: object = {}): object => ({
  metadata_namespace: 'ns',
  key,
  ...more,
});
const rule = (path: string, fields: object, first = false): object => ({
  rule: { selectors: path.split('.').map((key) => ({ key })), ...fields },
  ...(first ? { stop_processing_after_matches: 1 } : {}),
});
const RULES = [
  rule('a.t', {
    on_present: entry('t', { type: 'NUMBER' }),
    on_missing: entry('t', { value: 'none' }),
    on_error: entry('t', { value: 'error' }),
  }),
  rule('m', { on_present: entry('m', { type: 'STRING' }) }, true),
  rule('k', { on_present: entry('k', { preserve_existing_metadata_value: true }) }),
  rule('v', { on_present: entry('v') }),
];

const J = '{"a":{"t":5},"m":"x","k":1,"v":{"q":[1]}}';
const ALL = '{"k":1,"m":"x","t":5,"v":"{\\"q\\":[1]}"}';
const CASES: readonly (readonly [title: string, body: string, written: string])[] = [
  ['one event', `data: ${J}\n\n`, ALL],
  ['lines that end with CR LF', `data: ${J}\r\n\r\n`, ALL],
  ['a byte order mark', `\ufeffdata: ${J}\n\n`, ALL],
  [
    'a later event',
    `data: ${J}\n\ndata: {"a":{"t":6},"m":"y","k":2}\n\n`,
    '{"k":1,"m":"x","t":6,"v":"{\\"q\\":[1]}"}',
  ],
  ['several lines of data', 'data: {"a":\ndata: {"t":9}}\n\n', '{"t":9}'],
  ['other fields', 'event: x\nid: 1\n: c\nretry: 5\ndata:{"a":{"t":8}}\n\n', '{"t":8}'],
  ['an event that is no JSON behind one', `data: ${J}\n\ndata: [DONE]\n\n`, ALL],
  ['no JSON', 'data: nope\n\n', '{"t":"error"}'],
  ['nothing of it', 'data: {"a":{"t":null}}\n\n', '{"t":"none"}'],
  ['an event that does not end', `data: ${J}`, '-'],
  ['an event without data', 'event: x\n\n', '-'],
  [
    'an event that is too large in pieces',
    `data: {"a":{"t":1},"x":"${'y'.repeat(300)}"}\n\ndata: {"m":"z"}\n\n`,
    '{"m":"z","t":"none"}',
  ],
];

describe('events that are written to metadata', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  /** The client has got what came before, so that the rest is a piece of its own. */
  let sendRest: () => void;
  before(async () => {
    upstream = await startHttpUpstream((request, response) => {
      const [, body = ''] = CASES[Number(request.headers['x-case'])] ?? [];
      response.setHeader('content-type', 'Text/Event-Stream; charset=utf-8');
      const bytes = Buffer.from(body);
      const middle = Math.min(bytes.length, 290);
      response.write(bytes.subarray(0, middle));
      sendRest = () => response.end(bytes.subarray(middle));
    });
    const parser = {
      name: 'envoy.content_parsers.json',
      typed_config: { '@type': `${TYPE}.content_parsers.json.v3.JsonContentParser`, rules: RULES },
    };
    const filter = {
      '@type': `${TYPE}.filters.http.sse_to_metadata.v3.SseToMetadata`,
      response_rules: { content_parser: parser, max_event_size: 200 },
    };
    const log = {
      '@type': `${TYPE}.access_loggers.stream.v3.StdoutAccessLog`,
      log_format: {
        text_format_source: { inline_string: 'case %REQ(x-case)%: %DYNAMIC_METADATA(ns)%\n' },
      },
    };
    const http_filters = [
      { name: 'envoy.filters.http.sse_to_metadata', typed_config: filter },
      { name: 'router', typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` } },
    ];
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    const hcm = { http_filters, access_log: [{ name: 'l', typed_config: log }] };
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(routes, { hcm })],
        clusters: [staticCluster('up', [upstream.port])],
      }),
      concurrency: 1,
      args: ['--file-flush-interval-msec', '20'],
    });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await upstream.close();
  });

  for (const [index, [title, body, written]] of CASES.entries()) {
    it(`are as in Envoy for ${title}`, async () => {
      const headers = { 'x-case': String(index) };
      const port = await sluice.listenerPort('web');
      const [answer] = (await once(get({ port, headers }), 'response')) as [IncomingMessage];
      answer.once('data', () => sendRest());
      assert.equal((await buffer(answer)).toString(), body);
      const line = `case ${index}: ${written}\n`;
      await waitUntil(line, () => sluice.stdout().includes(`case ${index}: `));
      assert.ok(sluice.stdout().includes(line), sluice.stdout());
    });
  }
});
