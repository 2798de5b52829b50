import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testResolver } from '../../../support/peers/discovery-parts.ts';

const resolver = testResolver();

describe('a secret of another kind than is asked for', () => {
  for (const [kind, error] of [
    ['certificate', 'Failed to load incomplete private key from path: '],
    ['validation', 'the secret has no validation_context'],
    ['tickets', 'the secret has no session_ticket_keys'],
  ] as const) {
    it(`is refused where it should be a ${kind}`, () => {
      const message = { name: 's', generic_secret: { secret: { inline_string: 'x' } } };
      assert.deepEqual(resolver.secret(message, kind), { error });
    });
  }
});
