/** envoy.service.auth.v3.CheckResponse: what Envoy makes of the same bytes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCheckResponse } from '../../../../workers/filters/http/ext-authz/check-response.ts';
import { readMessage } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { checkResponse } from '../../../support/peers/services/asked-services.ts';

/** With an error_response beside the code. */
function withError(code: number): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => writer.integer(1, code));
  writer.message(5, () => {
    writer.message(1, () => writer.integer(1, 418));
    writer.utf8(3, 'later');
  });
  return writer.finish();
}

describe('the response to a check', () => {
  it('allows by its code alone, whatever else it says', () => {
    assert.equal(readMessage(withError(0), readCheckResponse)?.kind, 'ok');
    assert.equal(readMessage(Buffer.alloc(0), readCheckResponse)?.kind, 'ok');
    const failed = readMessage(withError(7), readCheckResponse);
    assert.equal(failed?.kind, 'error');
    assert.deepEqual(failed.answer, { status: 418, body: 'later', headers: [] });
  });

  it('denies with 403 where its status is none that an answer may have', () => {
    for (const status of [0, 150, 999]) {
      const denied = readMessage(checkResponse({ code: 7, status }), readCheckResponse);
      assert.equal(denied?.kind === 'denied' && denied.status, 403);
    }
  });

  it('is none when it breaks off or holds text that is no UTF-8', () => {
    const whole = checkResponse({ code: 7, body: 'no' });
    for (let length = 1; length < whole.length; length++) {
      const outcome = readMessage(whole.subarray(0, length), readCheckResponse);
      assert.notEqual(outcome?.kind, 'ok', `${length} bytes`);
    }
    const writer = new ProtoWriter();
    writer.message(3, () => writer.text(5, '\xff'));
    assert.equal(readMessage(writer.finish(), readCheckResponse), undefined);
  });
});
