import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import {
  binaryMessage,
  CALL,
  compactMessage,
  field,
  framed,
  int32,
  REPLY,
  STOP,
  text,
  withHeaders,
} from '../../support/thrift.ts';
import { waitUntil } from '../../support/wait.ts';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';
const TYPE = 'application/x-thrift';
const scratch = makeScratch();
const log = scratch.file('log');

function rule(fact: string): object {
  const entry = { metadata_namespace: 't', key: fact.toLowerCase() };
  return { field: fact, on_present: entry, on_missing: { ...entry, value: 'none' } };
}

function selected(key: string, ids: readonly number[], method = ''): object {
  const [id = 0, ...rest] = ids;
  const inner = (path: readonly number[]): object | undefined =>
    path.length === 0 ? undefined : { name: 'f', id: path[0], child: inner(path.slice(1)) };
  return {
    field_selector: { name: 'f', id, child: inner(rest) },
    method_name: method,
    on_present: { metadata_namespace: 't', key },
    on_missing: { metadata_namespace: 't', key, value: 'none' },
  };
}

const filter = {
  name: 'thrift',
  typed_config: {
    '@type': `${HTTP}.thrift_to_metadata.v3.ThriftToMetadata`,
    request_rules: [
      ...['METHOD_NAME', 'PROTOCOL', 'TRANSPORT', 'SEQUENCE_ID', 'HEADER_FLAGS'].map(rule),
      selected('user', [2, 1]),
      selected('other', [7], 'nothing'),
    ],
    response_rules: [rule('REPLY_TYPE')],
  },
};
const router = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
const file = {
  name: 'file',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
    path: log,
    log_format: { text_format_source: { inline_string: '%DYNAMIC_METADATA(t)%\n' } },
  },
};

/** {1: 7, 2: {1: 'ann'}} */
const body = Buffer.concat([
  field(8, 1, int32(7)),
  field(12, 2, Buffer.concat([field(11, 1, text('ann')), STOP])),
  STOP,
]);
const compactBody = Buffer.from([0x15, 14, 0x1c, 0x18, 3, 0x61, 0x6e, 0x6e, 0, 0]);
const refused = framed(binaryMessage('add', REPLY, 1, Buffer.concat([field(12, 1, STOP), STOP])));

describe('thrift_to_metadata', () => {
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let lines = 0;

  before(async () => {
    upstream = await startHttpUpstream((_, response) => {
      response.setHeader('content-type', TYPE);
      response.end(refused);
    });
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    sluice = await startSluice({
      args: ['--file-flush-interval-msec', '20'],
      bootstrap: bootstrap({
        listeners: [
          httpListener(routes, { hcm: { http_filters: [filter, router], access_log: [file] } }),
        ],
        clusters: [staticCluster('up', [upstream.port])],
      }),
    });
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
    scratch[Symbol.dispose]();
  });

  async function metadataOf(message: Buffer, type = TYPE): Promise<unknown> {
    const client = await openRaw(await sluice.listenerPort('web'));
    const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: ${type}\r\n`;
    client.send(`${head}content-length: ${message.length}\r\n\r\n`);
    client.send(message);
    await client.until(refused.toString('latin1'));
    client.destroy();
    lines += 1;
    const line = await waitUntil(
      'the log',
      () =>
        readFileSync(log, 'utf8')
          .split('\n')
          .at(lines - 1) || undefined,
    );
    return JSON.parse(line);
  }

  const known = { method_name: 'add', sequence_id: 7, header_flags: 'none', user: 'ann' };

  it('reads what a framed message of the binary protocol says, and what is in its fields', async () => {
    assert.deepEqual(await metadataOf(framed(binaryMessage('add', CALL, 7, body))), {
      ...known,
      protocol: 'binary(auto)',
      transport: 'framed(auto)',
      reply_type: 'error',
    });
  });

  it('reads messages without a frame, with headers and of the compact protocol', async () => {
    const compact = compactMessage('add', CALL, 7, compactBody);
    assert.deepEqual(await metadataOf(compact), {
      ...known,
      protocol: 'compact(auto)',
      transport: 'unframed(auto)',
      reply_type: 'error',
    });
    assert.deepEqual(await metadataOf(withHeaders(compact, { a: 'b' }, 3)), {
      ...known,
      header_flags: 0,
      protocol: 'compact(auto)',
      transport: 'header(auto)',
      reply_type: 'error',
    });
  });

  it('says of a body that is no message that all of it is missing, and lets it pass', async () => {
    const seen = await metadataOf(Buffer.from('no such message'));
    assert.deepEqual(new Set(Object.values(seen as object)), new Set(['none', 'error']));
    assert.equal(upstream.requests.at(-1)?.body, 'no such message');
  });

  it('leaves other types alone, and counts what it saw', async () => {
    assert.deepEqual(await metadataOf(Buffer.from('{}'), 'application/json'), {
      reply_type: 'error',
    });
    assert.equal(await sluice.stat('thrift_to_metadata.rq.success'), 3);
    assert.equal(await sluice.stat('thrift_to_metadata.rq.invalid_thrift_body'), 1);
    assert.equal(await sluice.stat('thrift_to_metadata.rq.mismatched_content_type'), 1);
    assert.equal(await sluice.stat('thrift_to_metadata.resp.success'), 5);
  });
});
