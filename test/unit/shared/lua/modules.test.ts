import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkScript } from '../../../../shared/lua/check-script.ts';
import type { ModuleSource } from '../../../../shared/lua/lib/module-library.ts';

/** Loads a script beside these files; says what is wrong, or which files it has read. */
function load(source: string, files: Readonly<Record<string, string>> = {}): string {
  const asked: string[] = [];
  const find = (_name: string, tried: readonly string[]): ModuleSource | undefined => {
    const file = tried.find((each) => Object.hasOwn(files, each));
    if (file === undefined) return undefined;
    asked.push(file);
    return { source: files[file] ?? '', file };
  };
  const { problem, modules } = checkScript(source, find);
  assert.deepEqual(
    [...modules.values()].map(({ file }) => file),
    asked,
  );
  return problem ?? asked.join(' ');
}

describe('modules that a script requires', () => {
  it('are read from files once, and those that they require', () => {
    const files = { './lib/a.lua': "return require('lib.b')", './lib/b.lua': 'return { x = 1 }' };
    const script = "assert(require('lib.a').x == 1 and require('lib.a') == require('lib.b'))";
    assert.equal(load(script, files), './lib/a.lua ./lib/b.lua');
  });

  it('are found by the search path that the script sets', () => {
    const script = "package.path = '/etc/x/?.lua;' .. package.path; assert(require('m') == 'm/m')";
    assert.equal(load(script, { '/etc/x/m.lua': "return ... .. '/m'" }), '/etc/x/m.lua');
  });

  it('are read with the script when a function requires them later', () => {
    const script = 'function envoy_on_request(h) local m = require "m" end';
    const files = { './m.lua': "function f() return require('n') end", './n.lua': '' };
    assert.equal(load(script, files), './m.lua ./n.lua');
  });

  it('may come from package.preload, and give true without a value', () => {
    assert.equal(
      load("package.preload.m = function(n) return n end; assert(require('m') == 'm')"),
      '',
    );
    assert.equal(load("assert(require('m') == true)", { './m.lua': 'x = 1' }), './m.lua');
  });

  it('fail as in Lua when they are missing, break, or require themselves', () => {
    assert.match(load("require('__proto__')"), /module '__proto__' not found:\n\tno field/);
    assert.match(load("require('m')", { './m.lua': 'x = = 1' }), /^.\/m\.lua:1: /);
    const loop = load("require('m')", { './m.lua': "require('m')" });
    assert.match(loop, /loop or previous error loading module 'm'/);
    assert.match(load('package.path = 1; require("m")'), /module 'm' not found/);
  });
});
