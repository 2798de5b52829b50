/** What LuaJIT in Envoy 1.40 was seen to give for each of these pieces, results and errors alike. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LuaError } from '../../../../shared/lua/lua-error.ts';
import { ScriptMachine } from '../../../../shared/lua/script-machine.ts';
import { runNow } from '../../../../shared/lua/script-run.ts';
import { listOf } from '../../../../shared/lua/values.ts';

/** As `pcall` and `tostring` would show it. */
function outcomeOf(source: string): string {
  const machine = new ScriptMachine(() => undefined);
  try {
    const results = listOf(runNow(machine.state, machine.compile(source, '=chunk')));
    return results.map((each) => machine.state.text(each)).join(' ');
  } catch (error) {
    if (!(error instanceof LuaError)) throw error;
    return `! ${machine.state.text(error.value)}`;
  }
}

function holds(name: string, rows: readonly (readonly [source: string, expected: string])[]): void {
  test(name, () => {
    for (const [source, expected] of rows) assert.equal(outcomeOf(source), expected, source);
  });
}

holds('numbers', [
  [
    'return 0/0, 1/0, -1/0, 1e14, 123456789012345, 2^53',
    'nan inf -inf 1e+14 1.2345678901235e+14 9.007199254741e+15',
  ],
  ['return 0.1, 1e100, 1e-5, 3.14159265358979', '0.1 1e+100 1e-05 3.1415926535898'],
  ["return 1 .. 2, 1.5 .. '', 10/2, -0 .. ''", '12 1.5 5 -0'],
  ['return -5%3, 5%-3, 5.5%2, 2^0.5, 7%0', '1 -1 1.5 1.4142135623731 nan'],
  [
    "return tonumber('0x10'), tonumber('1e1'), tonumber(' 5 '), tonumber('5x'), tonumber('ff',16)",
    '16 10 5 nil 255',
  ],
  [
    "return tonumber('zz',36), tonumber(''), tonumber('0x1p4'), tonumber('1_0'), tonumber('inf'), tonumber('0b11')",
    '1295 nil 16 nil inf 3',
  ],
  ["return '10'+1", '11'],
  [
    'return bit.band(0xffffffff,1), bit.tobit(0xffffffff), bit.tohex(255), bit.tohex(255,-4)',
    '1 -1 000000ff 00FF',
  ],
  [
    'return bit.lshift(1,31), bit.bxor(5,3), bit.bswap(1), bit.rol(1,0), bit.ror(1,1)',
    '-2147483648 6 16777216 1 -2147483648',
  ],
  ["local s='' for i=3,1,-1 do s=s..i end for i=1,0 do s=s..'x' end return s", '321'],
]);

holds('errors of operators name what was wrong', [
  ['local x; x()', "! chunk:1: attempt to call local 'x' (a nil value)"],
  ['foo()', "! chunk:1: attempt to call global 'foo' (a nil value)"],
  ['local t={} t.a()', "! chunk:1: attempt to call field 'a' (a nil value)"],
  ['local t={} t:a()', "! chunk:1: attempt to call method 'a' (a nil value)"],
  ['return foo.bar', "! chunk:1: attempt to index global 'foo' (a nil value)"],
  ['local t={} return t.a.b', "! chunk:1: attempt to index field 'a' (a nil value)"],
  [
    'local t; return (function() return t.x end)()',
    "! chunk:1: attempt to index upvalue 't' (a nil value)",
  ],
  ['local a; return a+1', "! chunk:1: attempt to perform arithmetic on local 'a' (a nil value)"],
  ["return 'a'+1", '! chunk:1: attempt to perform arithmetic on a string value'],
  ["local a; return 'x'..a", "! chunk:1: attempt to concatenate local 'a' (a nil value)"],
  ["return 'x'..{}", '! chunk:1: attempt to concatenate a table value'],
  ["return 1<'2'", '! chunk:1: attempt to compare number with string'],
  ['return {}<{}', '! chunk:1: attempt to compare two table values'],
  ['local a; return #a', "! chunk:1: attempt to get length of local 'a' (a nil value)"],
  ['return -{}', '! chunk:1: attempt to perform arithmetic on a table value'],
  ['local t={} t[nil]=1', '! chunk:1: table index is nil'],
  ['local t={} t[0/0]=1', '! chunk:1: table index is NaN'],
  ["for i='a',2 do end", "! chunk:1: 'for' initial value must be a number"],
  ['for i in 5 do end', '! chunk:1: attempt to call a number value'],
  ['local function f() return 1+f() end return f()', '! chunk:1: stack overflow'],
]);

holds('errors of functions', [
  ["error('boom')", '! chunk:1: boom'],
  ["local function f()\nerror('boom',2) end\nf()", '! chunk:3: boom'],
  ['error()', '! nil'],
  ['assert(false)', '! chunk:1: assertion failed!'],
  ["assert(nil,'msg')", '! chunk:1: msg'],
  ['string.rep()', "! chunk:1: bad argument #1 to 'rep' (string expected, got no value)"],
  ["('x'):rep({})", "! chunk:1: bad argument #1 to 'rep' (number expected, got table)"],
  ["math.floor('x')", "! chunk:1: bad argument #1 to 'floor' (number expected, got string)"],
  [
    'setmetatable(1,{})',
    "! chunk:1: bad argument #1 to 'setmetatable' (table expected, got number)",
  ],
  ['ipairs()', "! chunk:1: bad argument #1 to 'ipairs' (value expected)"],
  [
    'for i,v in ipairs(nil) do end',
    "! chunk:1: bad argument #1 to 'ipairs' (table expected, got nil)",
  ],
  ['tostring()', "! chunk:1: bad argument #1 to 'tostring' (value expected)"],
  ['string.char(256)', "! chunk:1: bad argument #1 to 'char' (invalid value)"],
  ['table.concat({1,{},3})', "! chunk:1: invalid value (table) at index 2 in table for 'concat'"],
  ["('x'):bad()", "! chunk:1: attempt to call method 'bad' (a nil value)"],
  [
    "string.format('%d','x')",
    "! chunk:1: bad argument #2 to 'format' (number expected, got string)",
  ],
  ["string.format('%d')", "! chunk:1: bad argument #2 to 'format' (value expected)"],
  ["string.format('%y',1)", "! chunk:1: invalid option '%y' to 'format'"],
  ["tonumber('z',99)", "! chunk:1: bad argument #2 to 'tonumber' (base out of range)"],
  ['table.insert({},1,2,3)', "! chunk:1: wrong number of arguments to 'insert'"],
  ["string.find('a','[')", "! chunk:1: malformed pattern (missing ']')"],
  ["string.find('a','%')", "! chunk:1: malformed pattern (ends with '%')"],
  ["string.find('a','(')", '! chunk:1: unfinished capture'],
  ["string.gsub('abc','(a)','%2')", '! chunk:1: invalid capture index'],
  [
    "string.gsub('abc','a',true)",
    "! chunk:1: bad argument #3 to 'gsub' (string/function/table expected)",
  ],
  ['select(0)', "! chunk:1: bad argument #1 to 'select' (index out of range)"],
  ["next({},'x')", "! invalid key to 'next'"],
  [
    "local t = setmetatable({},{__index=function(t,k) error('idx '..k) end}) return t.foo",
    '! chunk:1: idx foo',
  ],
  [
    "return coroutine.wrap(function() return string.gsub('a','a',function() coroutine.yield(1) end) end)()",
    '! chunk:1: attempt to yield across C-call boundary',
  ],
]);

holds('errors of syntax', [
  ['x = = 1', "! chunk:1: unexpected symbol near '='"],
  ['if x then', "! chunk:1: 'end' expected near '<eof>'"],
  ['local function', "! chunk:1: '<name>' expected near '<eof>'"],
  ["return 'abc", "! chunk:1: unfinished string near '<eof>'"],
  ['x = }', "! chunk:1: unexpected symbol near '}'"],
  ['break', '! chunk:1: no loop to break'],
  ['goto nowhere', "! chunk:1: undefined label 'nowhere'"],
  ['return 1 x', "! chunk:1: '<eof>' expected near 'x'"],
  ['f() = 1', "! chunk:1: unexpected symbol near '='"],
  ['local x = [[abc', "! chunk:1: unfinished long string near '<eof>'"],
  ['x = 08x', "! chunk:1: malformed number near '08x'"],
  ['for i do end', "! chunk:1: '=' or 'in' expected near 'do'"],
  ['--[[ unfinished', "! chunk:1: unfinished long comment near '<eof>'"],
  ['x = @', "! chunk:1: unexpected symbol near '@'"],
  ['if x then\n\n\nfoo(', "! chunk:4: unexpected symbol near '<eof>'"],
]);

holds('strings', [
  [
    "return string.format('%5d|%-5s|%05.1f|%x|%X|%g|%e|%c|%i|%s|%.3s|%%|%o|%u|%a', 42,'a',3.14159,255,255,1e20,12345.678,65,3,nil,'abcdef',8,7,1)",
    '   42|a    |003.1|ff|FF|1e+20|1.234568e+04|A|3|nil|abc|%|10|7|0x1p+0',
  ],
  ["return string.format('%q', 'a\\n\"b\\0')", '"a\\\n\\"b\\0"'],
  ["return string.format('%d', 3.7)", '3'],
  ["return string.gsub('hello world','o',{o='0'})", 'hell0 w0rld 2'],
  [
    "return string.find('hello','l+'), string.match('k=v','(%w+)=(%w+)'), string.find('a.b','.',1,true)",
    '3 k 2 2',
  ],
  ["return ('abc'):gsub('', '-')", '-a-b-c- 4'],
  ["return ('THE (quick) fox'):find('%((%a+)%)'), ('f(a(b)c)d'):match('%b()')", '5 (a(b)c)'],
  ["local s='' for k, v in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do s=s..k..v end return s", 'a1b2'],
  [
    "return ('THE (quick) fox'):gsub('%f[%a]%a+', function(w) return w:lower() end)",
    'the (quick) fox 3',
  ],
  ["return '\\x41\\65\\z   b\\u{e9}'", 'AAb\u00c3\u00a9'],
  ["return 'a'<'b', 'Z'<'a', 'a'<'aa', '\\255'>'a'", 'true true true true'],
  [
    "return ('x'):rep(3, ','), ('abc'):sub(-2), ('abc'):byte(1,-1), #('abc'):reverse()",
    'x,x,x bc 97 3',
  ],
]);

holds('functions, tables and coroutines', [
  ['return unpack({1,2,3})', '1 2 3'],
  ["local function f(...) return select('#',...), ... end return f(nil,nil)", '2 nil nil'],
  [
    'local a,b,c = (function() return 1,2,3 end)() local t={(function() return 1,2 end)(), (function() return 1,2 end)()} return a,b,c,#t',
    '1 2 3 3',
  ],
  [
    'local fs={} for i=1,3 do fs[i]=function() i=i+1 return i end end return fs[1](),fs[1](),fs[2]()',
    '2 3 3',
  ],
  ['for i=1,3 do if i==2 then goto continue end ::continue:: end return 1', '1'],
  ['local i, s = 1, "" ::top:: s = s .. i i = i + 1 if i < 4 then goto top end return s', '123'],
  ['return setmetatable({}, {__call=function(self,a) return a end})(5)', '5'],
  ['return #setmetatable({}, {__len=function() return 5 end})', '5'],
  ["return tostring(setmetatable({}, {__tostring=function() return 'TS' end}))", 'TS'],
  [
    "return xpcall(function(a) error('q'..a) end, function(m) return 'H:'..m end, 'z')",
    'false H:chunk:1: qz',
  ],
  [
    'return coroutine.wrap(function() pcall(function() coroutine.yield(1) end) return 2 end)()',
    '1',
  ],
  [
    "local c = coroutine.create(function(a) local b = coroutine.yield(a+1) error('e'..b) end) local _, x = coroutine.resume(c, 1) local ok, e = coroutine.resume(c, 'z') return x, ok, e, coroutine.status(c)",
    '2 false chunk:1: ez dead',
  ],
  [
    "local t = {5,3,9,1} table.sort(t, function(a,b) return a > b end) return table.concat(t, ',')",
    '9,5,3,1',
  ],
  [
    "local t = {1,2,3} table.insert(t, 1, 0) table.remove(t, 2) return table.concat(t, ','), #t",
    '0,2,3 3',
  ],
  [
    'local t = {a=1,b=2,c=3} local s = 0 for k, v in pairs(t) do t[k] = nil s = s + v end return s, next(t)',
    '6 nil',
  ],
  ['local t = {} t[3]=3 t[2]=2 t[1]=1 return #t, t[3]', '3 3'],
  [
    'local t = {constructor=1, ["__proto__"]=2} return t.constructor, t.__proto__, t.toString, ({}).constructor',
    '1 2 nil nil',
  ],
  [
    'return type(table.pack), type(table.unpack), type(math.mod), type(rawlen), _VERSION',
    'function function nil function Lua 5.1',
  ],
  ["return type(require('bit')), os.date('!%Y-%m-%d %H:%M:%S', 0)", 'table 1970-01-01 00:00:00'],
]);

/** The files that LuaJIT names, too. */
const NO_MODULE = `! chunk:1: module 'ffi' not found:\n\tno field package.preload['ffi']${[
  './ffi.lua',
  '/usr/local/share/luajit-2.1/ffi.lua',
  '/usr/local/share/lua/5.1/ffi.lua',
  '/usr/local/share/lua/5.1/ffi/init.lua',
]
  .map((file) => `\n\tno file '${file}'`)
  .join('')}`;

holds('what would reach the machine refuses by name', [
  ["os.execute('x')", '! chunk:1: os.execute is not available to scripts here'],
  ["io.open('/etc/passwd')", '! chunk:1: io.open is not available to scripts here'],
  ["loadfile('x')", '! chunk:1: loadfile is not available to scripts here'],
  ["require('ffi')", NO_MODULE],
  ['debug.getregistry()', '! chunk:1: debug.getregistry is not available to scripts here'],
  ["load('\\27LJ')", ''],
]);
