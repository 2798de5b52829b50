import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseOptions, type ParsedCommandLine } from '../../../../src/options/parse-options.ts';
import { COMMAND_LINE_CONTEXT as context } from '../../../support/options.ts';

const parse = (...argv: string[]): ParsedCommandLine => parseOptions(argv, context);

describe('a refused command line', () => {
  const parseErrors: readonly [argv: string[], argument: string, reason: string][] = [
    [['--nosuch'], '--nosuch', "Couldn't find match for argument"],
    [['-x'], '-x', "Couldn't find match for argument"],
    [['stray', '-c', 'x'], 'stray', "Couldn't find match for argument"],
    [['-cx'], '-cx', "Couldn't find match for argument"],
    [['-c=x'], '-c=x', "Couldn't find match for argument"],
    [['--nosuch', '--version'], '--nosuch', "Couldn't find match for argument"],
    [['-c', 'x', '-c', 'y', '--nosuch'], '-c (--config-path)', 'Argument already set!'],
    [['--disable-hot-restart=1'], '--disable-hot-restart=1', "Couldn't find match for argument"],
    [['-c'], '-c (--config-path)', 'Missing a value for this argument!'],
    [['--mode'], '(--mode)', 'Missing a value for this argument!'],
    [['--concurrency', 'abc'], '(--concurrency)', "Couldn't read argument value from string 'abc'"],
    [['--concurrency', '-1'], '(--concurrency)', "Couldn't read argument value from string '-1'"],
    [
      ['--base-id', '4294967296'],
      '(--base-id)',
      "Couldn't read argument value from string '4294967296'",
    ],
    [
      ['--drain-time-s', '1.5'],
      '(--drain-time-s)',
      "Couldn't read argument value from string '1.5'",
    ],
    [
      ['--concurrency', '3 4'],
      '(--concurrency)',
      "More than one valid value parsed from string '3 4'",
    ],
    [['--log-format', 'a', '--log-format', 'a'], '(--log-format)', 'Argument already set!'],
    [['-l', 'info', '--log-level', 'info'], '-l (--log-level)', 'Argument already set!'],
    [
      ['--disable-hot-restart', '--disable-hot-restart'],
      '(--disable-hot-restart)',
      'Argument already set!',
    ],
  ];
  for (const [argv, argument, reason] of parseErrors) {
    it(`${argv.join(' ')} names ${argument} on standard error and exits with 1`, () => {
      const parsed = parse(...argv);
      assert.ok(parsed.kind === 'exit');
      assert.equal(parsed.exitCode, 1);
      assert.equal(parsed.stream, 'stderr');
      assert.ok(
        parsed.text.startsWith(`PARSE ERROR: Argument: ${argument}\n             ${reason}\n`),
        parsed.text,
      );
      assert.match(parsed.text, /\nUsage: sluice -c FILE \[OPTIONS\]\n/);
      assert.ok(parsed.text.split('\n').length <= 9, parsed.text);
    });
  }

  const refusals: readonly [argv: string[], text: string][] = [
    [['--mode', 'dance'], "unknown mode 'dance'"],
    [['--mode', '--version'], "unknown mode '--version'"],
    [['--local-address-ip-version', 'v5'], "unknown IP address version 'v5'"],
    [['--drain-strategy', 'slow'], "unknown drain-strategy 'slow'"],
    [['--validate-format', 'xml'], "unknown validate-format 'xml'"],
    [['-l', 'shout'], "invalid log level specified 'shout'"],
    [['-l', 'INFO'], "invalid log level specified 'INFO'"],
    [['-l', 'err'], "invalid log level specified 'err'"],
    [['--component-log-level', 'nosuch:info'], "invalid component specified 'nosuch'"],
    [['--component-log-level', 'upstream:bad'], "invalid log level specified 'bad'"],
    [
      ['--component-log-level', 'upstream'],
      "component log level not correctly specified 'upstream'",
    ],
    [
      ['--component-log-level', 'io:info:x'],
      "component log level not correctly specified 'io:info:x'",
    ],
    [['--component-log-level', 'io:info,'], "component log level not correctly specified ''"],
    [['--component-log-level', 'io:info, io:info'], "invalid component specified ' io'"],
    [
      ['--enable-fine-grain-logging', '--component-log-level', 'a:b'],
      '--component-log-level will not work with --enable-fine-grain-logging',
    ],
    [
      ['--restart-epoch', '1', '--use-dynamic-base-id'],
      'cannot use --restart-epoch=1 with --use-dynamic-base-id',
    ],
    [['--socket-path', '/x', '--socket-mode', '999'], "invalid socket-mode '999'"],
    [['--socket-path', '/x', '--socket-mode', ''], "invalid socket-mode ''"],
    [['--socket-path', '/x', '--socket-mode', '12345678901'], "invalid socket-mode '12345678901'"],
    [
      ['--socket-path', '@x', '--socket-mode', '644'],
      "cannot use --socket-mode with the abstract --socket-path '@x'",
    ],
    [
      ['--socket-mode', '644'],
      "cannot use --socket-mode with the abstract --socket-path '@envoy_domain_socket'",
    ],
    [['--stats-tag', 'bad'], "misformatted stats-tag 'bad'"],
    [['--stats-tag', 'a-b:c'], "misformatted stats-tag 'a-b:c' contains invalid char in 'a-b'"],
    [['--stats-tag', 'a:b.c'], "misformatted stats-tag 'a:b.c' contains invalid char in 'b.c'"],
    [['--stats-tag', 'a:'], "misformatted stats-tag 'a:' contains invalid char in ''"],
  ];
  for (const [argv, text] of refusals) {
    it(`${argv.join(' ')} begins with Envoy's line: ${text}`, () => {
      const parsed = parse(...argv);
      assert.ok(parsed.kind === 'exit');
      assert.equal(parsed.exitCode, 1);
      assert.equal(parsed.stream, 'stderr');
      const [first, ...rest] = parsed.text.split('\n');
      assert.equal(first, `error: ${text}`);
      for (const line of rest) assert.match(line, /^( +expected: [a-z0-9_, ]+)?$/);
    });
  }

  it('names the first of several mistakes in the order of Envoy', () => {
    const mistakes = [
      ['-l', 'bad'],
      ['--component-log-level', 'q:r'],
      ['--mode', 'dance'],
      ['--local-address-ip-version', 'v5'],
      ['--restart-epoch', '1', '--use-dynamic-base-id'],
      ['--drain-strategy', 'foo'],
      ['--stats-tag', 'a'],
      ['--socket-mode', '9'],
    ];
    const named = mistakes.map((_, first) => {
      const parsed = parse(...mistakes.slice(first).reverse().flat());
      return parsed.kind === 'exit' ? parsed.text.split('\n')[0] : '';
    });
    assert.deepEqual(named, [
      "error: invalid log level specified 'bad'",
      "error: invalid log level specified 'r'",
      "error: unknown mode 'dance'",
      "error: unknown IP address version 'v5'",
      'error: cannot use --restart-epoch=1 with --use-dynamic-base-id',
      "error: unknown drain-strategy 'foo'",
      "error: misformatted stats-tag 'a'",
      "error: invalid socket-mode '9'",
    ]);
  });
});
