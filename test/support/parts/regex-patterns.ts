/**
 * Regular expressions for tests and benchmarks: generated ones, usual ones, and those known to be
 * slow.
 */
import fc from 'fast-check';
import { compileRegex } from '../../../supervisor/regex/compile-regex.ts';
import { LinearMatcher } from '../../../shared/regex/linear/matcher.ts';
import type { CompiledRegex } from '../../../shared/resources/routes/matchers.ts';
import { parseRegex } from '../../../supervisor/regex/parse.ts';
import { writeProgram } from '../../../supervisor/regex/write-program.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';

export function compiled(pattern: string, use: 'match' | 'replace'): CompiledRegex {
  const result = compileRegex(pattern, { use });
  if (!result.ok) throw new Error(result.error);
  return result.regex;
}

/** The linear engine, whatever the pattern and the text. */
export function linearOf(pattern: string, dfaBytes?: number): LinearMatcher {
  const program = writeProgram(parseRegex(toByteString(pattern)), 'replace');
  return new LinearMatcher(program, dfaBytes);
}

/** Patterns over a small alphabet, so that random texts match often. */
const atom = fc.constantFrom(
  'a',
  'b',
  'ab',
  'aab',
  '.',
  '[ab]',
  '[^a]',
  '\\w',
  '\\W',
  '(?i:a)',
  '\\C',
  '(?s:.)',
  '(?:)',
  '\\b',
  '\\B',
  '^',
  '$',
  '\\A',
  '\\z',
  '(?m:^)',
  '(?m:$)',
  '\\x{e9}',
  '[^\\x00-\\xff]',
);
const QUANTIFIERS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{0,3}', '{1,}', '{2,3}?', '{0}'];

export const generatedPattern = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => a + b),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}|${b}|)`),
    tie('tree').map((a) => `(${a})`),
    fc.tuple(tie('tree'), fc.constantFrom(...QUANTIFIERS)).map(([a, sign]) => `(?:${a})${sign}`),
    fc.tuple(tie('tree'), fc.constantFrom(...QUANTIFIERS)).map(([a, sign]) => `(${a})${sign}`),
  ),
})).tree;

export const generatedText = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', '\n', ' ', '\u00e9', '/'),
  maxLength: 12,
});

/** As routes and filters of published configurations have them. */
export const USUAL_PATTERNS: readonly string[] = [
  '.*',
  '/api/v[0-9]+/.*',
  '/users/[^/]+',
  '/users/([^/]+)/items/[0-9]+',
  'virtual.*',
  'vhost\\..*\\.route\\..*',
  '_rq(_(\\d{3}))$',
  '_rq(_(\\dxx))$',
  'rbac(\\.(allowed|denied))',
  '^tcp\\.((.*?)\\.)\\w+?$',
  '^server(\\.(.+))\\.watchdog',
  '(cache\\.(.+?)\\.)',
  'den(y|ied)',
  '^cluster(\\.(.+);)',
  '(\\.shadow_(allowed|denied))',
  '(worker_([0-9]+)\\.)',
  '^mongo\\.(.+?)\\.(collection|cmd|cx_|op_|delays_|decoding_)(.*?)$',
  '^listener\\.(((?:[_.[:digit:]]*|[_\\[\\]aAbBcCdDeEfF[:digit:]]*))\\.)',
  '^http\\.(((?:[_.[:digit:]\\w]*|[_\\[\\]aAbBcCdDeEfF[:digit:]\\w\\:]*));\\.)',
  '^cluster\\.([^.]+\\.(?:[^.]+\\.)?([^.]+)\\.external\\.[^.]+\\.consul\\.)',
  '^cluster\\.(?:passthrough~)?((?:[^.]+~)?(?:[^.]+\\.)?[^.]+\\.[^.]+\\.(?:[^.]+\\.)?[^.]+\\.[^.]+\\.consul\\.)',
  '^(?:tcp|http)\\.upstream\\.([^.]+(?:\\.[^.]+)?(?:\\.[^.]+)?\\.([^.]+)\\.)',
  '\\.zone(\\.(([^\\.]+)\\.))',
  '^grpc\\.((.+)\\.)',
  'circuit_breakers\\.((.+?)\\.).+',
  '^grpc.*streams_closed(_([0-9]+))',
  '((.+?)\\.)rbac\\.',
  'allowed.*path',
  '\\*',
  '^https?://localhost:(3000|8000)$',
  '^/(cluster[\\d\\w-]+)/?.*$',
  '^/sui\\.rpc\\.v2\\..*',
  '^/(grpc\\.reflection|grpc\\.health)\\..*',
  'https?://(www.)?envoyproxy.io/docs/envoy.*',
  '.*\\.envoyproxy\\.io',
  '^/service/([^/]+)(/.*)$',
  'one',
  '(?i)/xxx/',
  '(?i)^bearer .+$',
  '^([a-z0-9]+(-[a-z0-9]+)*\\.)+[a-z]{2,}$',
  '^[A-Za-z0-9_-]{1,64}$',
  '^\\d+(\\.\\d+)?$',
  '/([^/]+)/([^/]+)/([^/]+)',
  '^/(?:a|b|c)/([^/?]*)(.*)$',
  '.*\\.(?:js|css|png|jpe?g|svg)',
];

/** RE2's own benchmark set, and what is slow in it for others. */
export const RE2_BENCHMARKS: readonly (readonly [name: string, pattern: string])[] = [
  ['easy0', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ$'],
  ['easy1', 'A[AB]B[BC]C[CD]D[DE]E[EF]F[FG]G[GH]H[HI]I[IJ]J$'],
  ['easy2', '(?i)A[AB]B[BC]C[CD]D[DE]E[EF]F[FG]G[GH]H[HI]I[IJ]J$'],
  ['medium', '[XYZ]ABCDEFGHIJKLMNOPQRSTUVWXYZ$'],
  ['hard', '[ -~]*ABCDEFGHIJKLMNOPQRSTUVWXYZ$'],
  ['fanout', '(?:[\\x{80}-\\x{ff}]?){100}[\\x{80}-\\x{ff}]'],
  [
    'parens',
    '([ -~])*(A)(B)(C)(D)(E)(F)(G)(H)(I)(J)(K)(L)(M)(N)(O)(P)(Q)(R)(S)(T)(U)(V)(W)(X)(Y)(Z)$',
  ],
  ['big fixed', '^.*$'],
  ['success', 'abcdefg.$'],
  ['success anchored', '(?s).*abcdefg.'],
  ['alternation', '(?:fo|foo|bar|baz)$'],
  ['simple', 'abcdefghijklmnopqrstuvwxyz'],
  ['phone', '(\\d{3}-|\\(\\d{3}\\)\\s+)(\\d{3}-\\d{4})'],
  ['http', '^(?:GET|POST) +([^ ]+) HTTP'],
  ['dot star', '(?s).*.*.*.*zz'],
  ['empty loops', '(a*)*b'],
  ['nested', '((a{0,5}){0,5})*[b]'],
  ['states', '(a|b)*a(a|b){12}'],
];

/**
 * Shapes from the literature on denial of service by expressions, each with what it is slow with.
 */
export const SLOW_PATTERNS: readonly (readonly [pattern: string, seed: string, tail: string])[] = [
  ['(a+)+', 'a', '!'],
  ['([a-zA-Z]+)*', 'a', '!'],
  ['(a|aa)+', 'a', '!'],
  ['(a|a?)+', 'a', '!'],
  ['(.*a){12}', 'a', '!'],
  ['(.*a){25}', 'ab', '!'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a', ''],
  ['^(a+)+$', 'a', '!'],
  ['^(\\w+\\s?)*$', 'a', '!'],
  [
    '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}(([a-z]{2,3})|([a-z]{2,3}[.]{1}[a-z]{2,3}))$',
    'a',
    '!',
  ],
  ['^[\\s\\x{a0}]+|[\\s\\x{a0}]+$', ' ', 'x'],
  ['(?:(?:x|xx)+)+y', 'x', ''],
  ['(x+x+)+y', 'x', ''],
  ['.*.*=.*', 'x', ''],
  [
    '(?:(?:\\"|\'|\\]|\\}|\\\\|\\d|(?:nan|infinity|true|false|null|undefined|symbol|math)|\\`|\\-|\\+)+[)]*;?((?:\\s|-|~|!|\\{\\}|\\|\\||\\+)*.*(?:.*=.*)))',
    'x=',
    '',
  ],
  ['.*(a|b).*c', 'a', ''],
  ['.*/api/.*/v[0-9]+/.*', '/api/v1', ''],
  ['/api/(.*)/(.*)/(.*)/x', '/api/', ''],
  ['.*.*.*.*zz', 'z', '!'],
  ['(.+)(.+)(.+)(.+)x', 'a', ''],
  ['^(.*?,){11}P', '1,', ''],
  ['([^/]*/)*([^/]*\\.)*html', 'a/', 'x'],
  ['(/[^/]+)*/x', '/a', ''],
  ['^((ab)*)+$', 'ab', 'a'],
  ['(?i)(b|B)+(b|c)+d', 'b', ''],
  ['[a-q][^u-z]{13}x', 'a', ''],
  ['(?m)^(\\s*)+#', ' ', ''],
  ['\\b(\\w+)*\\b!', 'a', ' '],
  ['(\\d+)*\\.(\\d+)*\\.(\\d+)*z', '1.', ''],
  ['^(?:\\.?\\d)*$', '1', 'x'],
  ['<!--(.*?)-->|<(.*?)>', '<!--', ''],
  ['a.*b|a', 'a', ''],
  ['(?:a.*)?b|a', 'a', ''],
  ['(a{1,30}){1,30}b', 'a', ''],
  ['(ab|a)(bc|c)?(.*)*d', 'abc', ''],
  ['[^\\x00]*[^\\x01]*[^\\x02]*y', 'x', ''],
];
