import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  changesOnlyChains,
  goneChains,
} from '../../../../supervisor/xds/kinds/listener-changes.ts';

const ADDRESS = { address: { socket_address: { address: '127.0.0.1', port_value: 1 } } };
const one = { name: 'one' };
const two = { name: 'two' };

describe('a change of a listener', () => {
  const table = [
    { what: 'another chain', later: { ...ADDRESS, filter_chains: [two] }, only: true, gone: 1 },
    {
      what: 'one more chain',
      later: { ...ADDRESS, filter_chains: [one, two] },
      only: true,
      gone: 0,
    },
    {
      what: 'a default chain in its place',
      later: { ...ADDRESS, filter_chains: [two], default_filter_chain: one },
      only: true,
      gone: 0,
    },
    { what: 'no chain', later: { ...ADDRESS, filter_chains: [] }, only: false, gone: 1 },
    {
      what: 'another chain and another field',
      later: { ...ADDRESS, transparent: true, filter_chains: [two] },
      only: false,
      gone: 1,
    },
  ];
  for (const { what, later, only, gone } of table) {
    it(`to ${what} ${only ? 'concerns chains alone' : 'concerns all of it'}`, () => {
      const earlier = { ...ADDRESS, filter_chains: [one] };
      assert.equal(changesOnlyChains(earlier, later), only);
      assert.equal(goneChains(earlier, later).length, gone);
    });
  }
});
