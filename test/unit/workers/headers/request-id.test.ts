/** Request ids that Sluice makes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRequestId, withoutTraceDecision } from '../../../../workers/headers/request-id.ts';

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('a new request id', () => {
  it('is a UUID of version 4, another one each time', () => {
    const ids = Array.from({ length: 1000 }, newRequestId);
    for (const id of ids) assert.match(id, UUID_4);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('has every value of each random digit', () => {
    const ids = Array.from({ length: 2000 }, newRequestId);
    for (let at = 0; at < 36; at++) {
      const values = new Set(ids.map((id) => id[at]));
      const expected = at === 19 ? 4 : [8, 13, 14, 18, 23].includes(at) ? 1 : 16;
      assert.equal(values.size, expected, `character ${at}`);
    }
  });

  it('has no trace decision to lose', () => {
    const id = newRequestId();
    assert.equal(withoutTraceDecision(id), id);
  });
});
