/** Scripts that want too much: they end with an error, in time, and nothing else does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LuaError, LuaLimitError } from '../../../shared/lua/lua-error.ts';
import { plainText } from '../../../shared/lua/lua-state.ts';
import { ScriptMachine } from '../../../shared/lua/script-machine.ts';
import { PAUSE } from '../../../shared/lua/script-limits.ts';
import { attackParameters, attackRuns } from '../../support/attack.ts';

/** Processor time that one turn of a script may take. */
const TURN_MS = 300;
/** The same of plain work, collections included. */
const LARGE_TURN_MS = 100;

const STEPS = 'script takes too many steps';
const MEMORY = 'not enough memory';

/** How a script ended, after how many turns, and how long the longest of them was. */
function run(source: string): { ending: string; turns: number; longestMs: number } {
  const machine = new ScriptMachine(() => undefined);
  let [turns, longestMs] = [0, 0];
  let begun = process.cpuUsage();
  const note = (): void => {
    const { user, system } = process.cpuUsage(begun);
    longestMs = Math.max(longestMs, (user + system) / 1000);
  };
  try {
    const script = machine.start(machine.compile(source, '=s'), []);
    for (;;) {
      begun = process.cpuUsage();
      const step = script.resume(undefined);
      note();
      if (step.isOver) return { ending: 'over', turns, longestMs };
      assert.equal(step.wanted, PAUSE);
      turns += 1;
    }
  } catch (error) {
    note();
    if (error instanceof LuaError) return { ending: plainText(error.value), turns, longestMs };
    if (error instanceof LuaLimitError) return { ending: error.message, turns, longestMs };
    throw error;
  }
}

const ENDLESS: (readonly [source: string, ending: RegExp])[] = [
  ['while true do end', /too many steps/],
  ['repeat until false', /too many steps/],
  ['::top:: goto top', /too many steps/],
  ['while true do pcall(function() while true do end end) end', /too many steps/],
  ['while true do pcall(error) end', /too many steps/],
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

/** Functions of the host that have much to do, and end. */
const LARGE: readonly string[] = [
  "local s = ('x'):rep(3e5) return s:gsub('x', 'xx')",
  "local s = ('x'):rep(1e5) return s:gsub('x', '%0%0')",
  "local s = ('x'):rep(2e5) return s:gsub('', '-')",
  "local s = ('x'):rep(1e5) return s:gsub('(x)', {x='yy'})",
  "local s = ('x'):rep(1e5) return s:gsub('x', function(each) return each end)",
  "local s = ('ab'):rep(1e5) return s:gsub('[^%w_.-]', '')",
  "local n = 0 for w in ('ab '):rep(3e4):gmatch('%a+') do n = n + 1 end",
  "local s = ('x'):rep(1.6e7) return s:reverse()",
  "local s = ('x'):rep(1.6e7) return s:upper()",
  "local t = {} for i = 1, 1e5 do t[i] = 'k' .. i end return table.concat(t, ',')",
  'local t = {} for i = 1, 3e4 do t[i] = -i end table.sort(t)',
  "local s = ('x'):rep(1e6) local t = {} for i = 1, 30 do t[s .. i] = i end",
];
for (const source of LARGE) {
  test(`lets others go on: ${source}`, () => {
    const { ending, turns, longestMs } = run(source);
    assert.equal(ending, 'over');
    if (source.includes('gsub')) assert.ok(turns > 10, `${turns} turns`);
    assert.ok(longestMs < LARGE_TURN_MS, `one turn took ${longestMs} ms`);
  });
}

test('a table that is walked again and again by the host costs its steps', () => {
  const walk = 'local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1000 do table.maxn(t) end';
  const { ending, longestMs } = run(walk);
  assert.equal(ending, STEPS);
  assert.ok(longestMs < LARGE_TURN_MS, `one turn took ${longestMs} ms`);
});

/** Rows that take a second each. */
const inLongForm = <Row>(...rows: Row[]): Row[] => rows.slice(0, attackRuns(0, rows.length));
ENDLESS.push(
  ...inLongForm<(typeof ENDLESS)[number]>([
    'local function f() return f() end while true do pcall(f) end',
    /too many steps/,
  ]),
);

for (const [source, ending] of ENDLESS) {
  test(`does not go on for ever: ${source}`, () => {
    const { ending: words, longestMs } = run(source);
    assert.match(words, ending);
    assert.ok(longestMs < TURN_MS, `one turn took ${longestMs} ms`);
  });
}

const HUNGRY: (readonly [source: string, ending: RegExp])[] = [
  ['local t = {} for i = 1, 1e9 do t[i] = {} end', /memory/],
  ["local s = 'x' while true do s = s .. s end", /memory/],
  ["return ('x'):rep(1e10)", /memory/],
  ["return string.format('%99999d', 1)", /invalid option/],
  ['local t = {} for i = 1, 1e9 do t[i] = function() return i end end', /memory/],
  ['local t = {} for i = 1, 1e9 do t[i] = coroutine.create(print) end', /memory|steps/],
  ["local t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e6) end return table.concat(t)", /memory/],
  ["local s = ('x'):rep(1e5) while true do s = s:gsub('x', 'xx') end", /memory|steps/],
  ['local function f() return 1 + f() end return f()', /stack overflow/],
  ['local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x', /loop/],
  ['local function f() return coroutine.wrap(f)() end return f()', /overflow/],
  ["local s = ('('):rep(1e5) return load('return ' .. s)", /over/],
  ['return unpack({}, 1, 1e9)', /too many results/],
];

HUNGRY.push(
  ...inLongForm<(typeof HUNGRY)[number]>([
    "local t = {} for i = 1, 1e9 do t['k' .. i] = i end",
    /memory/,
  ]),
);

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
    attackParameters(300, 200_000),
  );
});

test('what is printed of limits stays as it is documented', () => {
  assert.equal(run('while true do end').ending, STEPS);
  assert.equal(run('local t = {} while true do t[#t + 1] = {} end').ending, MEMORY);
});
