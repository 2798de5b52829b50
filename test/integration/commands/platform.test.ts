/** A machine on which Sluice cannot run is told so, by the real entry. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { MAIN } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const MACHINES: readonly (readonly [what: string, change: string, line: RegExp])[] = [
  [
    'macOS',
    "Object.defineProperty(process, 'platform', { value: 'darwin' });",
    /^sluice: Linux on x64 or arm64 is needed, this is darwin on \w+\n\nWhat is missing here/,
  ],
  [
    'Windows',
    "Object.defineProperty(process, 'platform', { value: 'win32' });",
    /^sluice: Linux on x64 or arm64 is needed, this is win32 on/,
  ],
  [
    'an old Node.js',
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });",
    /^sluice: Node\.js 20\.20 or newer is needed, this is 18\.20\.4\n$/,
  ],
];

describe('a machine that cannot run it', () => {
  for (const [what, change, line] of MACHINES) {
    it(`is told what is missing: ${what}`, () => {
      using scratch = makeScratch();
      const preload = scratch.file('preload.cjs');
      writeFileSync(preload, change);
      assert.throws(
        () =>
          execFileSync(process.execPath, ['--require', preload, MAIN, '-c', 'any.yaml'], {
            stdio: 'pipe',
          }),
        (error: { readonly status: number; readonly stderr: Buffer }) => {
          assert.equal(error.status, 1);
          assert.match(error.stderr.toString(), line);
          assert.doesNotMatch(error.stderr.toString(), /^ {4}at /m);
          return true;
        },
      );
    });
  }
});
