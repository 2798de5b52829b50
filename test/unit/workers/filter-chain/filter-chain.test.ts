import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
  TerminalFilter,
} from '../../../../workers/stream/filter.ts';
import { type ChainStream, FilterChain } from '../../../../workers/filter-chain/filter-chain.ts';
import { HeldBytes } from '../../../../workers/loop/held-bytes.ts';
import type { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { headerMap, requestHeaders, streamInfo } from '../../../support/parts/stream.ts';

type Script = Partial<{
  decodeHeaders: HeadersStatus;
  decodeData: DataStatus;
  decodeTrailers: HeadersStatus;
  encodeHeaders: HeadersStatus;
  encodeData: DataStatus;
  encodeTrailers: HeadersStatus;
}>;

/** A chain of filters that do as their scripts say, with everything that happened in order. */
function chainOf(...scripts: readonly Script[]) {
  const log: string[] = [];
  const callbacks: FilterCallbacks[] = [];
  const note = (what: string, data?: Buffer, end?: boolean): void => {
    log.push(
      `${what}${data === undefined ? '' : `(${data.toString()})`}${end === true ? '!' : ''}`,
    );
  };
  const factories = scripts.map((script, at): FilterFactory => ({
    name: `f${at}`,
    create: (given): HttpFilter => {
      callbacks[at] = given;
      return {
        decodeHeaders: (_, end) => (
          note(`f${at} h`, undefined, end),
          script.decodeHeaders ?? 'continue'
        ),
        decodeData: (data, end) => (note(`f${at} d`, data, end), script.decodeData ?? 'continue'),
        decodeTrailers: () => (note(`f${at} t`), script.decodeTrailers ?? 'continue'),
        encodeHeaders: (_, end) => (
          note(`f${at} H`, undefined, end),
          script.encodeHeaders ?? 'continue'
        ),
        encodeData: (data, end) => (note(`f${at} D`, data, end), script.encodeData ?? 'continue'),
        encodeTrailers: () => (note(`f${at} T`), script.encodeTrailers ?? 'continue'),
        onDestroy: () => note(`f${at} x`),
      };
    },
  }));
  const terminal: TerminalFilter = {
    decodeHeaders: (_, end) => note('router h', undefined, end),
    decodeData: (data, end) => note('router d', data, end),
    decodeTrailers: () => note('router t'),
    onDownstreamBlocked: () => undefined,
    onDestroy: () => undefined,
  };
  const heldByAll = new HeldBytes();
  const ignored = (): void => undefined;
  const stream: ChainStream = {
    info: streamInfo(),
    route: undefined,
    routeConfig: () => undefined,
    routeConfigs: () => [],
    clearRoute: ignored,
    sendLocalReply: ignored,
    restartRequest: ignored,
    resetStream: ignored,
    onException: ignored,
    takeEvent: ignored,
    pauseRequest: ignored,
    isPaused: () => false,
    pauseResponse: ignored,
    checkHeldBytes: ignored,
    heldByAll,
    isRequestDropped: false,
    writeHeaders: (_: HeaderMap, end: boolean) => note('client H', undefined, end),
    writeData: (data: Buffer, end: boolean) => note('client D', data, end),
    writeTrailers: () => note('client T'),
  };
  const chain = new FilterChain(stream, factories, terminal);
  const since = (): string[] => log.splice(0);
  return { chain, callbacks, heldByAll, since };
}

const headers = (): HeaderMap => requestHeaders();
const trailers = (): HeaderMap => headerMap([['x-t', '1']]);

describe('a filter chain', () => {
  it('passes requests forwards and responses backwards', () => {
    const { chain, since } = chainOf({}, {});
    chain.decodeHeaders(headers(), false);
    chain.decodeData(Buffer.from('a'), false);
    chain.decodeTrailers(trailers());
    assert.deepEqual(since(), [
      'f0 h',
      'f1 h',
      'router h',
      'f0 d(a)',
      'f1 d(a)',
      'router d(a)',
      'f0 t',
      'f1 t',
      'router t',
    ]);
    chain.encodeHeaders(headers(), false);
    chain.encodeData(Buffer.from('b'), true);
    assert.deepEqual(since(), ['f1 H', 'f0 H', 'client H', 'f1 D(b)!', 'f0 D(b)!', 'client D(b)!']);
    chain.destroy({ note: assert.fail });
    assert.deepEqual(since(), ['f0 x', 'f1 x']);
  });

  it('keeps headers at a filter that stops them, until it goes on', () => {
    const { chain, callbacks, since } = chainOf({}, { decodeHeaders: 'stop' }, {});
    chain.decodeHeaders(headers(), true);
    assert.deepEqual(since(), ['f0 h!', 'f1 h!']);
    callbacks[0]?.continueDecoding();
    assert.deepEqual(since(), [], 'only the holder goes on');
    callbacks[1]?.continueDecoding();
    assert.deepEqual(since(), ['f2 h!', 'router h!']);
    callbacks[1]?.continueDecoding();
    assert.deepEqual(since(), []);
  });

  it('buffers a body for a filter that asks for it and passes it on in one piece', () => {
    const script: Script = { decodeHeaders: 'stop', decodeData: 'stop_and_buffer' };
    const { chain, callbacks, heldByAll, since } = chainOf(script);
    chain.decodeHeaders(headers(), false);
    const piece = Buffer.from('ab');
    chain.decodeData(piece, false);
    piece.fill(0x21);
    chain.decodeData(Buffer.from('cd'), true);
    assert.deepEqual([chain.overfullSide(3), chain.overfullSide(4)], ['request', undefined]);
    assert.equal(heldByAll.bytes, 4);
    assert.deepEqual(since(), ['f0 h', 'f0 d(ab)', 'f0 d(cd)!']);
    callbacks[0]?.continueDecoding();
    assert.deepEqual(since(), ['router h', 'router d(abcd)!']);
    assert.equal(chain.overfullSide(0), undefined);
    assert.equal(heldByAll.bytes, 0);
  });

  it('lets go of a body whose stream ends first', () => {
    const { chain, heldByAll } = chainOf({ decodeHeaders: 'stop', decodeData: 'stop_and_buffer' });
    chain.decodeHeaders(headers(), false);
    chain.decodeData(Buffer.from('ab'), false);
    assert.equal(heldByAll.bytes, 2);
    chain.destroy({ note: assert.fail });
    assert.equal(heldByAll.bytes, 0);
  });

  it('lets everything go when a piece of the body says so', () => {
    const script: Script = { decodeHeaders: 'stop', decodeData: 'stop_and_buffer' };
    const { chain, since } = chainOf(script);
    chain.decodeHeaders(headers(), false);
    chain.decodeData(Buffer.from('ab'), false);
    script.decodeData = 'continue';
    chain.decodeData(Buffer.from('cd'), true);
    assert.deepEqual(since(), ['f0 h', 'f0 d(ab)', 'f0 d(cd)!', 'router h', 'router d(abcd)!']);
  });

  it('keeps trailers behind what waits', () => {
    const script: Script = { decodeData: 'stop_and_buffer', decodeTrailers: 'stop' };
    const { chain, callbacks, since } = chainOf(script);
    chain.decodeHeaders(headers(), false);
    chain.decodeData(Buffer.from('ab'), false);
    chain.decodeTrailers(trailers());
    assert.deepEqual(since(), ['f0 h', 'router h', 'f0 d(ab)', 'f0 t']);
    callbacks[0]?.continueDecoding();
    assert.deepEqual(since(), ['router d(ab)', 'router t']);
  });

  it('drops what a filter stopped without asking for the buffer', () => {
    const script: Script = { decodeData: 'stop' };
    const { chain, callbacks, since } = chainOf(script);
    chain.decodeHeaders(headers(), false);
    chain.decodeData(Buffer.from('taken'), false);
    script.decodeData = 'continue';
    callbacks[0]?.continueDecoding();
    chain.decodeData(Buffer.from('passed'), true);
    assert.deepEqual(since(), [
      'f0 h',
      'router h',
      'f0 d(taken)',
      'f0 d(passed)!',
      'router d(passed)!',
    ]);
  });

  it('holds responses in the same way, from the last filter to the first', () => {
    const script: Script = { encodeHeaders: 'stop', encodeData: 'stop_and_buffer' };
    const { chain, callbacks, since } = chainOf({}, script, {});
    chain.encodeHeaders(headers(), false);
    chain.encodeData(Buffer.from('ab'), true);
    assert.deepEqual(since(), ['f2 H', 'f1 H', 'f2 D(ab)!', 'f1 D(ab)!']);
    assert.deepEqual([chain.overfullSide(1), chain.overfullSide(2)], ['response', undefined]);
    callbacks[1]?.continueEncoding();
    assert.deepEqual(since(), ['f0 H', 'client H', 'f0 D(ab)!', 'client D(ab)!']);
  });
});
