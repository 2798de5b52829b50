import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';
const scratch = makeScratch();
const prefix = scratch.file('tap');

function tap(name: string, common: object): object {
  const type = { '@type': `${HTTP}.tap.v3.Tap` };
  return { name, typed_config: { ...type, common_config: common } };
}

const filters = [
  tap('asked', { admin_config: { config_id: 'one' } }),
  tap('configured', {
    static_config: {
      match: { http_request_headers_match: { headers: [{ name: 'x-tap', present_match: true }] } },
      output_config: { sinks: [{ format: 'PROTO_TEXT', file_per_tap: { path_prefix: prefix } }] },
    },
  }),
  { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } },
];

interface Trace {
  readonly http_buffered_trace: {
    readonly request: {
      readonly headers: readonly { readonly key: string; readonly value: string }[];
      readonly body: { readonly as_string: string; readonly truncated: boolean };
    };
    readonly response: { readonly body: { readonly as_string: string } };
  };
}

/** A client of `/tap` that reads for as long as it likes. */
function openTap(
  port: number,
  config: object,
): Promise<{ text(): string; leave(): void; ended: Promise<void> }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const outgoing = request(
      { host: '127.0.0.1', port, path: '/tap', method: 'POST' },
      (answer) => {
        assert.equal(answer.statusCode, 200);
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('error', () => undefined);
        const ended = new Promise<void>((end) => answer.once('end', end));
        resolve({ text: () => text, leave: () => outgoing.destroy(), ended });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(JSON.stringify({ config_id: 'one', tap_config: config }));
  });
}

function outputTo(sink: object, more: object = {}): object {
  return { match: { any_match: true }, output_config: { sinks: [sink], ...more } };
}

describe('the tap filter', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;

  before(async () => {
    upstream = await startHttpUpstream((_request, response) => response.end('answer'));
    sluice = await startSluice({
      concurrency: 2,
      bootstrap: bootstrap({
        listeners: [
          httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], {
            hcm: { http_filters: filters },
          }),
        ],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
    port = await sluice.listenerPort('web');
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
    scratch[Symbol.dispose]();
  });

  async function ask(path: string, headers: Record<string, string> = {}): Promise<void> {
    const answer = await fetchOnce({ port, path, method: 'POST', headers, body: 'question' });
    assert.equal(answer.body, 'answer');
  }

  async function postTap(body: string): Promise<{ status: number; body: string }> {
    return await sluice.admin({ port: sluice.adminPort, path: '/tap', method: 'POST', body });
  }

  it('gives a client of /tap what passes in all workers, and refuses a second client', async () => {
    const client = await openTap(
      sluice.adminPort,
      outputTo(
        { format: 'JSON_BODY_AS_STRING', streaming_admin: {} },
        { max_buffered_rx_bytes: 4 },
      ),
    );
    const second = await postTap(
      JSON.stringify({ config_id: 'one', tap_config: outputTo({ streaming_admin: {} }) }),
    );
    assert.deepEqual(
      [second.status, second.body],
      [400, 'An attached /tap admin stream already exists. Detach it.'],
    );
    await sluice.settled();
    for (let count = 0; count < 6; count++) await ask(`/${count}`);
    await waitUntil('six records', () => client.text().match(/^}\n/gm)?.length === 6 || undefined);
    const traces = JSON.parse(`[${client.text().replaceAll('\n}\n{', '\n},{')}]`) as Trace[];
    const paths = traces.map(
      ({ http_buffered_trace: { request: asked } }) =>
        asked.headers.find(({ key }) => key === ':path')?.value,
    );
    assert.deepEqual(new Set(paths), new Set(['/0', '/1', '/2', '/3', '/4', '/5']));
    const [first] = traces;
    assert.deepEqual(first?.http_buffered_trace.request.body, {
      as_string: 'ques',
      truncated: true,
    });
    assert.equal(first.http_buffered_trace.response.body.as_string, 'answer');
    client.leave();
    await waitUntil('the next client to be let in', async () => {
      const answer = await postTap('{"config_id":"none"}');
      return answer.body.startsWith('An attached') ? undefined : true;
    });
  });

  it('streams each part of a request as it passes', async () => {
    const client = await openTap(
      sluice.adminPort,
      outputTo({ streaming_admin: {} }, { streaming: true }),
    );
    await sluice.settled();
    await ask('/streamed');
    await waitUntil(
      'the body of the answer',
      () => client.text().includes('response_body_chunk') || undefined,
    );
    const parts = [...client.text().matchAll(/"((?:request|response)_\w+)": \{/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(parts, [
      'request_headers',
      'request_body_chunk',
      'response_headers',
      'response_body_chunk',
    ]);
    client.leave();
  });

  it('collects as many records as a buffered client asks for, or what comes in its time', async () => {
    const buffered = { max_traces: 2 };
    await waitUntil('the last client to be gone', async () => {
      const answer = await postTap('{"config_id":"none"}');
      return answer.body.startsWith('An attached') ? undefined : true;
    });
    const client = await openTap(sluice.adminPort, outputTo({ buffered_admin: buffered }));
    await sluice.settled();
    for (const path of ['/a', '/b', '/c']) await ask(path);
    await client.ended;
    assert.equal(client.text().match(/"http_buffered_trace"/g)?.length, 2);
    const timed = await openTap(
      sluice.adminPort,
      outputTo({ buffered_admin: { max_traces: 9, timeout: '0.05s' } }),
    );
    await timed.ended;
    assert.equal(timed.text(), '');
  });

  it('writes a file for each request that its configuration matches, and counts it', async () => {
    const before = await sluice.stat('http.web.tap.rq_tapped');
    await ask('/unmatched');
    await ask('/matched', { 'x-tap': '1' });
    const name = await waitUntil('the file', () => {
      const [file] = readdirSync(scratch.path).filter((one) => one.startsWith('tap_'));
      const isWhole =
        file !== undefined && readFileSync(scratch.file(file), 'utf8').endsWith('}\n');
      return isWhole ? file : undefined;
    });
    assert.match(name, /^tap_\d+\.pb_text$/);
    const text = readFileSync(scratch.file(name), 'utf8');
    assert.match(
      text,
      /^http_buffered_trace \{\n {2}request \{\n {4}headers \{\n {6}key: ":authority"/,
    );
    assert.match(text, /value: "\/matched"/);
    assert.match(text, / {4}body \{\n {6}as_bytes: "answer"\n {4}\}/);
    assert.equal(await sluice.stat('http.web.tap.rq_tapped'), before + 1);
  });

  it('answers what it cannot do in Envoy’s words', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['', /^\/tap requires a JSON\/YAML body$/],
      ['x', /^Unable to convert YAML as JSON: x$/],
      ['{}', /TapRequestValidationError\.ConfigId: value length must be at least 1 characters\)$/],
      [
        'config_id: one',
        /^goo\.gle\/debugstr {2}\nconfig_id: "one"\n: Proto constraint validation failed \(TapRequestValidationError\.TapConfig: value is required\)$/,
      ],
      [
        JSON.stringify({ config_id: 'nope', tap_config: outputTo({ streaming_admin: {} }) }),
        /^Unknown config id 'nope'\. No extension has registered with this id\.$/,
      ],
      [
        JSON.stringify({ config_id: 'one', tap_config: { output_config: { sinks: [] } } }),
        /OutputConfigValidationError\.Sinks: value must contain exactly 1 item\(s\)\)$/,
      ],
      [
        JSON.stringify({
          config_id: 'one',
          tap_config: { output_config: { sinks: [{ streaming_admin: {} }] } },
        }),
        /^Neither match nor match_config is set in TapConfig$/,
      ],
    ];
    for (const [body, expected] of cases) {
      const answer = await postTap(body);
      assert.equal(answer.status, 400, body);
      assert.match(answer.body, expected);
    }
  });

  it('is in /help where a filter waits for a client', async () => {
    assert.match((await sluice.admin('/help')).body, / {2}\/tap \(POST\): tap filter control\n/);
  });
});

it('without such a filter /tap is an unknown path', async () => {
  await using sluice = await startSluice({ bootstrap: bootstrap({ listeners: [], clusters: [] }) });
  const answer = await sluice.admin({ port: sluice.adminPort, path: '/tap', method: 'POST' });
  assert.equal(answer.status, 404);
  assert.doesNotMatch(answer.body, /^ *\/tap[ :]/m);
});
