import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listenerLines } from '../../../../supervisor/server/announce-listeners.ts';

const at = (port: number) => ({ kind: 'ip', family: 'v4', address: '127.0.0.1', port }) as const;

describe('the log of a start', () => {
  it('names listeners with their addresses', () => {
    assert.deepEqual(listenerLines([{ name: 'web', addresses: [at(80), at(81)] }]), [
      "listener 'web' on 127.0.0.1:80, 127.0.0.1:81",
    ]);
  });

  it('leaves out those without an address, and line ends in names', () => {
    const listeners = [
      { name: 'internal', addresses: [] },
      { name: 'a\nb', addresses: [at(80)] },
    ];
    const lines = listenerLines(listeners);
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines[0] ?? '', /\n/);
  });

  it('is no longer with ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => ({
      name: `l${index}`,
      addresses: [at(index)],
    }));
    const lines = listenerLines(many);
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), 'and 9980 listeners more: see /listeners');
  });
});
