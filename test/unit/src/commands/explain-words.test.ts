/** Requests as `sluice explain` takes them: curl lines and lines of access logs. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCurl, splitShellLine } from '../../../../src/commands/explain/curl-line.ts';
import { parseExplainArguments } from '../../../../src/commands/explain/explain-arguments.ts';

/** What was said in place of an answer. */
function refusal(answer: object | string): string {
  assert.ok(typeof answer === 'string');
  return answer;
}

const OWN = ['accept: */*', 'user-agent: curl/8'];

describe('a curl line', () => {
  const lines: readonly [string, object][] = [
    ['h/a', { method: 'GET', url: 'http://h/a', headers: OWN }],
    ['-sSk -o /dev/null https://h', { method: 'GET', url: 'https://h', headers: OWN }],
    ['-XPUT h', { method: 'PUT', url: 'http://h', headers: OWN }],
    ['--request=DELETE h', { method: 'DELETE', url: 'http://h', headers: OWN }],
    ['-I h', { method: 'HEAD', url: 'http://h', headers: OWN }],
    ["-d 'a=b c' h", { method: 'POST', url: 'http://h', headers: OWN }],
    [
      `-H 'Accept: text/html' -A "my agent" -b a=1 h`,
      {
        method: 'GET',
        url: 'http://h',
        headers: ['Accept: text/html', 'user-agent: my agent', 'cookie: a=1'],
      },
    ],
    [
      '-u a:b h',
      { method: 'GET', url: 'http://h', headers: ['authorization: Basic YTpi', ...OWN] },
    ],
  ];
  for (const [line, expected] of lines) {
    it(`is read: ${line}`, () => assert.deepEqual(readCurl(splitShellLine(line)), expected));
  }

  it('is refused without an address or a value', () => {
    assert.match(refusal(readCurl([])), /no address/);
    assert.match(refusal(readCurl(['-H'])), /needs a value/);
  });

  it('is split as a shell does', () => {
    assert.deepEqual(splitShellLine(`a 'b c' "d \\" e" f\\ g h'i'"j"`), [
      'a',
      'b c',
      'd " e',
      'f g',
      'hij',
    ]);
  });
});

describe('the words of sluice explain', () => {
  it('take a line of an access log', () => {
    const line =
      '[2026-01-01T00:00:00.000Z] "GET /a?b HTTP/1.1" 404 NR 0 0 1 - "10.0.0.1" "curl/8" "id" "shop" "-"';
    const words = parseExplainArguments([line]);
    assert.ok(typeof words === 'object');
    const { method, url, headers } = words.question;
    assert.deepEqual(
      { method, url, headers },
      {
        method: 'GET',
        url: '/a?b',
        headers: ['host: shop', 'user-agent: curl/8', 'x-forwarded-for: 10.0.0.1'],
      },
    );
  });

  it('leave what comes after curl to curl', () => {
    const words = parseExplainArguments(['-c', 'f', 'curl', '-c', 'jar', 'h']);
    assert.ok(typeof words === 'object');
    assert.deepEqual(words.serverOptions, ['-c', 'f']);
    assert.equal(words.question.url, 'http://h');
  });

  const refused: readonly [readonly string[], RegExp][] = [
    [[], /no request/],
    [['--nosuch', 'h'], /unknown option/],
    [['http://a/', 'http://b/'], /unknown word/],
    [['-H'], /needs a value/],
    [['--format', 'xml', 'http://a/'], /--format/],
  ];
  for (const [words, expected] of refused) {
    it(`are refused: ${words.join(' ')}`, () => {
      assert.match(refusal(parseExplainArguments(words)), expected);
    });
  }
});
