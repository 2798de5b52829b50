import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { privateMembersIn } from '../../../scripts/checks/check-members.ts';

const SOURCE = `class Example {
  #well = 1;
  private readonly bad = 1;
  private constructor() {}
  private async alsoBad(): Promise<void> {}
  /** private in a comment */
}
`;

describe('the check of private members', () => {
  it('finds those of TypeScript, and lets constructors stay', () => {
    assert.deepEqual(privateMembersIn(SOURCE), [3, 5]);
  });
});
