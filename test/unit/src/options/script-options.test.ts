import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { optionsOf } from '../../../support/options.ts';

describe('--script-folders', () => {
  it('names the folders of modules, of which there are none by default', () => {
    assert.deepEqual(optionsOf('--script-folders', '/a,/b').scriptFolders, ['/a', '/b']);
    assert.deepEqual(optionsOf().scriptFolders, []);
  });
});
