/** Scripts that want too much: they end with an error, in time, and nothing else does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LuaError, LuaLimitError } from '../../../shared/lua/lua-error.ts';
import { plainText } from '../../../shared/lua/lua-state.ts';
import { ScriptMachine } from '../../../shared/lua/script-machine.ts';
import { PAUSE } from '../../../shared/lua/script-limits.ts';
import { attackParameters } from '../../support/attack.ts';

/** Milliseconds that one turn of a script may take, with room for a busy machine. */
const TURN_MS = 500;

/** How a script ended, after how many turns, and how long the longest of them was. */
function run(source: string): { ending: string; turns: number; longestMs: number } {
  const machine = new ScriptMachine(() => undefined);
  let [turns, longestMs] = [0, 0];
  try {
    const script = machine.start(machine.compile(source, '=s'), []);
    for (;;) {
      const start = performance.now();
      const step = script.resume(undefined);
      longestMs = Math.max(longestMs, performance.now() - start);
      if (step.isOver) return { ending: 'over', turns, longestMs };
      assert.equal(step.wanted, PAUSE);
      turns += 1;
    }
  } catch (error) {
    if (error instanceof LuaError) return { ending: plainText(error.value), turns, longestMs };
    if (error instanceof LuaLimitError) return { ending: error.message, turns, longestMs };
    throw error;
  }
}

const STEPS = 'script takes too many steps';
const MEMORY = 'not enough memory';

const ENDLESS: readonly (readonly [source: string, ending: RegExp])[] = [
  ['while true do end', /too many steps/],
  ['repeat until false', /too many steps/],
  ['::top:: goto top', /too many steps/],
  ['while true do pcall(function() while true do end end) end', /too many steps/],
  ['while true do pcall(error) end', /too many steps/],
  ['local function f() return f() end while true do pcall(f) end', /too many steps/],
  ['while true do coroutine.wrap(function() while true do end end)() end', /too many steps/],
  ['table.sort({3,1,2}, function() while true do end end)', /cannot be interrupted/],
  ["('x'):gsub('x', function() while true do end end)", /cannot be interrupted/],
  [
    'return setmetatable({}, {__index = function() while true do end end}).x',
    /cannot be interrupted/,
  ],
  ["while true do ('a'):rep(50000):find(('a?'):rep(20) .. 'b') end", /too complex/],
  ["('a'):rep(100000):match('.-.-.-.-b')", /too complex/],
  ["('a'):rep(30000):gsub('(a*)*b', '')", /.*/],
];

for (const [source, ending] of ENDLESS) {
  test(`does not go on for ever: ${source}`, () => {
    const { ending: words, longestMs } = run(source);
    assert.match(words, ending);
    assert.ok(longestMs < TURN_MS, `one turn took ${longestMs} ms`);
  });
}

const HUNGRY: readonly (readonly [source: string, ending: RegExp])[] = [
  ['local t = {} for i = 1, 1e9 do t[i] = {} end', /memory/],
  ["local t = {} for i = 1, 1e9 do t['k' .. i] = i end", /memory/],
  ["local s = 'x' while true do s = s .. s end", /memory/],
  ["return ('x'):rep(1e10)", /memory/],
  ["return string.format('%99999d', 1)", /invalid option/],
  ['local t = {} for i = 1, 1e9 do t[i] = function() return i end end', /memory/],
  ['local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end', /memory|steps/],
  ["local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e6) end return table.concat(t)", /memory/],
  ["local s = ('x'):rep(1e5) while true do s = s:gsub('x', 'xx') end", /memory|complex/],
  ['local function f() return 1 + f() end return f()', /stack overflow/],
  ['local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x', /loop/],
  ['local function f() return coroutine.wrap(f)() end return f()', /overflow/],
  ["local s = ('('):rep(1e5) return load('return ' .. s)", /over/],
  ['return unpack({}, 1, 1e9)', /too many results/],
];

for (const [source, ending] of HUNGRY) {
  test(`does not take what it wants: ${source}`, () => {
    const { ending: words, longestMs } = run(source);
    assert.match(words, ending);
    assert.ok(longestMs < 4 * TURN_MS, `one turn took ${longestMs} ms`);
  });
}

test('a script that takes long gives others their turn', () => {
  const { ending, turns } = run('for i = 1, 1e6 do end');
  assert.equal(ending, 'over');
  assert.ok(turns > 50);
});

test('generated text never ends in anything but an error of Lua', () => {
  const plain =
    'x y = ( ) { } function end local for in do while if then else return ... .. 1 "s" nil goto :: a break';
  const more =
    'not # - + ^ and or [ ] , ; : . pairs repeat until ` ${x} \\ \u0000 \' " */ // \u2028 constructor __proto__';
  const words = fc.constantFrom(...`${plain} ${more}`.split(' '));
  const source = fc.array(words, { maxLength: 30 }).map((each) => each.join(' '));
  fc.assert(
    fc.property(source, (text) => {
      run(text);
    }),
    attackParameters(500, 200_000),
  );
});

test('what is printed of limits stays as it is documented', () => {
  assert.equal(run('while true do end').ending, STEPS);
  assert.equal(run('local t = {} while true do t[#t + 1] = {} end').ending, MEMORY);
});
