import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KOFFI_VERSION, nativeKoffi } from '../../../../shared/posix/native-koffi.ts';
import { builtRoot } from '../../../../shared/process/built-root.ts';

describe('the native part of koffi', () => {
  it('is found without koffi, in the version that the package asks for', () => {
    const manifest = JSON.parse(readFileSync(join(builtRoot, '..', 'package.json'), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    assert.equal(KOFFI_VERSION, manifest.dependencies['koffi']);
    const found = nativeKoffi();
    assert.equal(found?.version, KOFFI_VERSION);
    assert.equal(found.load(null).func('int getppid()')(), process.ppid);
  });

  it('is left to koffi where it is another version or not there', () => {
    assert.equal(
      nativeKoffi(() => ({ version: '2.0.0' })),
      undefined,
    );
    assert.equal(
      nativeKoffi(() => {
        throw new Error('not found');
      }),
      undefined,
    );
  });
});
