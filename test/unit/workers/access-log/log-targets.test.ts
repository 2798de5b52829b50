import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openTarget, targetKey } from '../../../../workers/access-log/loggers/lines/log-target.ts';

describe('log targets', () => {
  it('are the inherited descriptors for their well-known paths', () => {
    const key = (path: string) => targetKey({ kind: 'file', path });
    assert.equal(key('/dev/stdout'), targetKey({ kind: 'stdout' }));
    assert.equal(key('/proc/self/fd/1'), targetKey({ kind: 'stdout' }));
    assert.equal(key('/dev/stderr'), targetKey({ kind: 'stderr' }));
    assert.equal(key('/var/log/x'), '/var/log/x');
    assert.deepEqual(openTarget({ kind: 'file', path: '/dev/stdout' }).path, undefined);
  });

  it('fail to open with the system’s own error', () => {
    assert.throws(() => openTarget({ kind: 'file', path: '/nonexistent/x' }), /ENOENT/);
  });
});
