/** The filter ext_proc: a processor sees and changes messages, and one that breaks hurts nobody. */
import assert from 'node:assert/strict';
import type { ServerHttp2Stream } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import { grpcCluster } from '../../support/peers/services/asked-services.ts';
import { framed } from '../../support/peers/services/grpc-peer.ts';
import {
  immediate,
  processed,
  type ProcessorPeer,
  type SeenPart,
  startProcessor,
} from '../../support/peers/services/processor-peer.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
/** For a processor that says nothing. The others answer, however slow the machine is. */
const IMPATIENT = { message_timeout: '0.5s' };
const BUFFERED = {
  processing_mode: { request_body_mode: 'BUFFERED', response_body_mode: 'BUFFERED' },
};
const OPEN = {
  failure_mode_allow: true,
  processing_mode: { request_body_mode: 'STREAMED', response_body_mode: 'STREAMED' },
};

/** Listeners by their name, each with the filter configured in its own way. */
const LISTENERS: Readonly<Record<string, object>> = {
  heads: {},
  streamed: {
    processing_mode: { request_body_mode: 'STREAMED', response_body_mode: 'STREAMED' },
  },
  buffered: BUFFERED,
  'buffered-impatient': { ...BUFFERED, ...IMPATIENT },
  duplex: {
    processing_mode: { request_body_mode: 'FULL_DUPLEX_STREAMED', request_trailer_mode: 'SEND' },
  },
  open: OPEN,
  'open-impatient': { ...OPEN, ...IMPATIENT },
};

function listener(name: string, config: object): object {
  return httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }], {
    name,
    hcm: {
      stat_prefix: name,
      http_filters: [
        {
          name: 'envoy.filters.http.ext_proc',
          typed_config: {
            '@type': `${TYPE}.ext_proc.v3.ExternalProcessor`,
            grpc_service: { envoy_grpc: { cluster_name: 'processor' } },
            message_timeout: '20s',
            ...config,
          },
        },
        { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
      ],
    },
  });
}

/** Ways to break, each of which comes to an answer in time. */
const BREAKING: Readonly<Record<string, () => Buffer | readonly Buffer[] | undefined>> = {
  '/silent': () => undefined,
  '/garbage': () => Buffer.from('ffff', 'hex'),
  '/empty': () => Buffer.alloc(0),
  '/other': () => processed('response_trailers'),
  '/endless': () => Array.from({ length: 2000 }, () => processed('request_headers')),
  '/huge': () => processed('request_headers', { set: { 'x-huge': 'v'.repeat(200_000) } }),
  '/gone': () => undefined,
  '/half': () => undefined,
};

const isSilent = (path: string): boolean => path === '/silent' || path === '/half';
/** The listener of this kind for a processor that breaks in this way. */
const listenerOf = (kind: string, path: string): string =>
  isSilent(path) ? `${kind}-impatient` : kind;

const FLOOD_PIECES = 40;
const FLOOD_PIECE = 'x'.repeat(1024 * 1024);

function answerTo(
  path: string,
  { part, body, endOfStream }: SeenPart,
  stream: ServerHttp2Stream,
): Buffer | readonly Buffer[] | undefined {
  if (path === '/gone') stream.close(2);
  // The head of a message whose rest never comes.
  if (path === '/half') stream.write(framed(Buffer.alloc(1000)).subarray(0, 100));
  const broken = Object.hasOwn(BREAKING, path) ? BREAKING[path] : undefined;
  if (broken !== undefined) return broken();
  if (path === '/tea') return immediate(418, 'tea', 'it is tea');
  if (path === '/own' && part === 'request_body') {
    return processed(part, { piece: `<${body}>`, isLast: endOfStream });
  }
  if (path === '/flood' && part === 'request_body') {
    return Array.from({ length: FLOOD_PIECES }, () => processed(part, { piece: FLOOD_PIECE }));
  }
  if (part.endsWith('body')) return processed(part, { body: body.toUpperCase() });
  return processed(part, {
    set: { 'x-seen': part, ':authority': 'else.where' },
    remove: ['x-secret'],
  });
}

let processor: ProcessorPeer;
let upstream: Awaited<ReturnType<typeof startHttpUpstream>>;
let sluice: Sluice;

before(async () => {
  let path = '';
  processor = await startProcessor((part, stream) => {
    path = part.headers.find((each) => each.startsWith(':path='))?.slice(6) ?? path;
    return answerTo(path, part, stream);
  });
  upstream = await startHttpUpstream((request, response) => {
    // It takes nothing of what it is flooded with.
    if (request.url === '/flood') request.pause();
    request.on('end', () => response.end('hello'));
  });
  sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: Object.entries(LISTENERS).map(([name, config]) => listener(name, config)),
      clusters: [staticCluster('up', [upstream.port]), grpcCluster('processor', processor.port)],
    }),
  });
});

after(async () => {
  await sluice[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  await processor[Symbol.asyncDispose]();
});

async function ask(name: string, path: string, body?: string): Promise<Answer> {
  processor.seen.length = 0;
  const port = await sluice.listenerPort(name);
  return fetchOnce({ port, path, ...(body === undefined ? {} : { method: 'POST', body }) });
}

async function stat(name: string): Promise<number | undefined> {
  return sluice.stat(`http.${name}`);
}

describe('a processor', () => {
  it('sees the heads of both messages, and changes them', async () => {
    const answer = await ask('heads', '/a');
    assert.equal(answer.headers['x-seen'], 'response_headers');
    const request = upstream.requests.at(-1);
    assert.equal(request?.headers['x-seen'], 'request_headers');
    assert.notEqual(request?.headers.host, 'else.where');
    assert.deepEqual(
      processor.seen.map(({ part }) => part),
      ['request_headers', 'response_headers'],
    );
    assert.ok(processor.seen[0]?.headers.includes(':path=/a'));
    assert.equal(await stat('heads.ext_proc.rejected_header_mutations'), 2);
    assert.equal(await stat('heads.ext_proc.stream_msgs_received'), 2);
  });

  it('changes bodies: piece by piece, in whole, and in its own time', async () => {
    for (const name of ['streamed', 'buffered']) {
      assert.equal((await ask(name, '/', 'question')).status, 200);
      assert.equal(upstream.requests.at(-1)?.body, 'QUESTION');
    }
    await ask('duplex', '/own', 'question');
    assert.match(upstream.requests.at(-1)?.body ?? '', /^<question>/);
  });

  it('answers in the place of the upstream', async () => {
    const sofar = upstream.requests.length;
    const answer = await ask('heads', '/tea');
    assert.deepEqual([answer.status, answer.body], [418, 'tea']);
    assert.equal(upstream.requests.length, sofar);
    assert.equal(await stat('heads.ext_proc.immediate_responses_sent'), 1);
  });
});

describe('a processor that breaks', () => {
  it('fails its request, and no other', async () => {
    for (const path of Object.keys(BREAKING)) {
      const { status } = await ask(listenerOf('buffered', path), path, 'question');
      assert.deepEqual([path, status], [path, isSilent(path) ? 504 : 500]);
    }
    assert.equal(await stat('buffered-impatient.ext_proc.message_timeouts'), 2);
    assert.equal(await sluice.stat('server.worker_exceptions'), 0);
  });

  it('is left out where failures are allowed', async () => {
    // What may not be done to a head is refused all the same.
    for (const path of Object.keys(BREAKING).filter((each) => each !== '/huge')) {
      const { status } = await ask(listenerOf('open', path), path, 'question');
      assert.deepEqual([path, status], [path, 200]);
      assert.equal(upstream.requests.at(-1)?.body, 'question');
    }
  });

  it('does not make a body larger than may be kept', async () => {
    const sofar = upstream.requests.length;
    const { status } = await ask('buffered', '/', 'x'.repeat(3_000_000));
    assert.equal(status, 413);
    assert.equal(upstream.requests.length, sofar);
  });

  it('does not flood a host that takes nothing', async () => {
    const { status } = await ask('duplex', '/flood', 'question');
    assert.equal(status, 500);
    assert.equal(await stat('duplex.ext_proc.immediate_responses_sent'), 1);
  });
});
