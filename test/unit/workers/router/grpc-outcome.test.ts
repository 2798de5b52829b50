import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { httpStatusOfGrpc, isGrpcSuccess } from '../../../../workers/router/retry/grpc-outcome.ts';

describe('what a gRPC status says of its host', () => {
  const cases: readonly (readonly [
    status: string | undefined,
    http: number | undefined,
    isGood: boolean,
  ])[] = [
    ['0', 200, true],
    ['1', 499, true],
    ['4', 504, false],
    ['5', 404, true],
    ['8', 429, true],
    ['13', 500, false],
    ['14', 503, false],
    ['16', 401, true],
    ['99', 500, false],
    ['none', 500, false],
    [undefined, undefined, false],
  ];
  for (const [status, http, isGood] of cases) {
    it(`is ${isGood ? 'good' : 'bad'} for ${status ?? 'none'}`, () => {
      const headers = new HeaderMap();
      if (status !== undefined) headers.set('grpc-status', status);
      assert.equal(httpStatusOfGrpc(headers), http);
      assert.equal(isGrpcSuccess(headers), isGood);
    });
  }
});
