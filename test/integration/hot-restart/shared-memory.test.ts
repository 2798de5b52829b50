/** A start without memory to share is refused in words, and leaves nothing behind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { MAIN } from '../../support/programs/sluice.ts';

const UNSHARE = ['--mount', '--propagation', 'private'];
const mayUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0;
const skip = mayUnshare ? false : 'no mount namespace may be made here';

describe('a full /dev/shm', { skip }, () => {
  it('refuses the start', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    const path = epochs.scratch.file('bootstrap.json');
    const words = [process.execPath, MAIN, '-c', path, ...epochs.args(0), '--concurrency', '1'];
    const script = [
      'mount -t tmpfs -o size=4k tmpfs /dev/shm',
      'head -c 4096 /dev/zero > /dev/shm/fill',
      '"$@"',
      'code=$?',
      'ls /dev/shm >&2',
      'exit $code',
    ].join('\n');
    const options = { encoding: 'utf8' } as const;
    const ended = spawnSync('unshare', [...UNSHARE, 'sh', '-c', script, 'sh', ...words], options);
    assert.equal(ended.status, 1, ended.stderr);
    assert.match(ended.stderr, /cannot use shared memory region \/envoy_shared_memory_\d+: ENOSPC/);
    assert.match(ended.stderr, /^fill\n$/m);
    assert.doesNotMatch(ended.stderr, /^envoy_shared_memory/m);
  });
});
