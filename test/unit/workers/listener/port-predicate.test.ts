import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PortPredicate } from '../../../../shared/resources/filters/listener-filter.ts';
import { matchesPort } from '../../../../workers/listener/port-predicate.ts';

const web: PortPredicate = { kind: 'range', start: 80, end: 82 };
const tls: PortPredicate = { kind: 'range', start: 443, end: 444 };

describe('conditions by port', () => {
  for (const [title, predicate, ports] of [
    ['any port', { kind: 'any' }, [80, 81, 82, 443]],
    ['a range without its end', web, [80, 81]],
    ['what a rule does not mean', { kind: 'not', rule: web }, [82, 443]],
    ['one of several rules', { kind: 'or', rules: [web, tls] }, [80, 81, 443]],
    ['all of several rules', { kind: 'and', rules: [web, { kind: 'not', rule: tls }] }, [80, 81]],
  ] as const satisfies readonly (readonly [string, PortPredicate, readonly number[]])[]) {
    it(`mean ${title}`, () => {
      assert.deepEqual(
        [80, 81, 82, 443].filter((port) => matchesPort(predicate, port)),
        ports,
      );
    });
  }
});
