/** `sluice reverse-proxy`: the server from one line, and the bootstrap that it stands for. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

describe('sluice reverse-proxy', () => {
  it('passes requests on, each target in turn', async () => {
    await using one = await startHttpUpstream((_request, response) => response.end('one'));
    await using two = await startHttpUpstream((_request, response) => response.end('two'));
    const targets = [one, two].flatMap(({ port }) => ['--to', `127.0.0.1:${port}`]);
    const places = ['--from', '127.0.0.1:0', '--admin', '127.0.0.1:0'];
    await using sluice = await startSluice({
      args: ['reverse-proxy', ...places, ...targets, '--'],
    });
    const port = await sluice.listenerPort('reverse_proxy');
    const answers = [await fetchOnce({ port, path: '/' }), await fetchOnce({ port, path: '/' })];
    assert.deepEqual(answers.map(({ body }) => body).sort(), ['one', 'two']);
  });

  const lines: readonly string[][] = [
    ['--to', 'localhost:3000'],
    ['--to', 'https://example.com', '--access-log'],
    ['--to', 'https://[::1]:8443', '--insecure', '--from', '127.0.0.1:8080'],
    ['--to', 'unix:/run/app.sock', '--from', '[::1]:8080', '--admin', ':9901'],
  ];
  for (const words of lines) {
    it(`prints a bootstrap that validates for ${words.join(' ')}`, async () => {
      using scratch = makeScratch();
      const printed = await runSluice(['reverse-proxy', ...words, '--print']);
      assert.equal(printed.code, 0, printed.stderr);
      const path = scratch.file('printed.yaml');
      writeFileSync(path, printed.stdout);
      const { code, stderr } = await runSluice(['--mode', 'validate', '-c', path]);
      assert.equal(code, 0, stderr);
    });
  }

  const mistakes: readonly [words: string[], reason: RegExp][] = [
    [[], /--to is missing/],
    [['--to', '3000'], /--to 3000 is not HOST:PORT/],
    [['--to', 'ftp://a:1'], /--to ftp:\/\/a:1 is not/],
    [['--to', 'a:70000'], /--to a:70000 is not/],
    [['--to', 'a:1', '--from', 'nowhere:1'], /--from nowhere:1 is not/],
    [['--to', 'a:1', '--tls', 'one.pem'], /two files/],
    [['--to', 'a:1', '--to', 'https://b'], /with and without TLS/],
    [['--to', 'a:1', 'stray'], /unknown word stray/],
    [['--to'], /--to needs a value/],
  ];
  for (const [words, reason] of mistakes) {
    it(`refuses ${words.join(' ') || 'no target'} with code 2`, async () => {
      const { code, stderr } = await runSluice(['reverse-proxy', ...words]);
      assert.equal(code, 2);
      assert.match(stderr, reason);
      assert.match(stderr, /\nusage: sluice reverse-proxy/);
    });
  }
});
