import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fetchOnce, type Answer } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { consumer, PACKAGE_ROOT } from '../../support/scripts/consumer.ts';

/** The blocks of the page that name a file. */
function filesOfPage(): Readonly<Record<string, string>> {
  const page = readFileSync(join(PACKAGE_ROOT, 'docs', 'from-http-proxy.md'), 'utf8');
  const blocks = [...page.matchAll(/^```[jt]s\n\/\/ ([\w-]+\.[jt]s)(.*\n[^]*?)^```$/gm)];
  return Object.fromEntries(blocks.map(([, name = '', text = '']) => [name, `//${text}`]));
}

/** The page's own program, with the configuration of another of its files. */
function programOf(files: Readonly<Record<string, string>>, name: string): string {
  const { 'program.js': program = '' } = files;
  return program.replace(
    "import { proxyTo } from './proxy-to.js'",
    `import proxyTo from './${name}'`,
  );
}

describe('the page for those who come from http-proxy', () => {
  it('has programs that do what it says', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume();
      response.setHeader('set-cookie', 'a=b; domain=old.test; path=/').end('hello you');
    });
    const files = filesOfPage();
    const names = ['program.js', 'proxy-to.js', 'options.js', 'callbacks.ts', 'callbacks.js'];
    assert.deepEqual(Object.keys(files), names);
    using folder = consumer({
      ...files,
      'with-options.js': programOf(files, 'options.js'),
      'with-callbacks.js': programOf(files, 'callbacks.js'),
      'package.json': '{"type": "module"}',
    });
    const ask = async (program: string, paths: readonly string[]): Promise<readonly Answer[]> => {
      const target = `http://127.0.0.1:${upstream.port}`;
      const child = spawn(process.execPath, [program, target], {
        cwd: folder.path,
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      const ended = once(child, 'exit');
      try {
        const [told] = (await Promise.race([once(child.stdout, 'data'), ended])) as [unknown];
        const port = Number(String(told));
        return await Promise.all(paths.map(async (path) => await fetchOnce({ port, path })));
      } finally {
        child.stdin.end();
        assert.deepEqual(await ended, [0, null]);
      }
    };
    const [[plain], [prefixed], [changed, forbidden]] = await Promise.all([
      ask('program.js', ['/plain']),
      ask('with-options.js', ['/api/x']),
      ask('with-callbacks.js', ['/changed', '/forbidden']),
    ]);
    const seen = (path: string) => upstream.requests.find((each) => each.path === path)?.headers;
    assert.deepEqual([plain?.body, prefixed?.body], ['hello you', 'hello you']);
    assert.deepEqual([seen('/x')?.host, seen('/x')?.['x-special']], ['api.example.com', 'yes']);
    assert.equal(changed?.body, 'goodbye you');
    assert.equal(String(changed?.headers['set-cookie']), 'a=b; Domain=example.com; path=/');
    assert.match(String(seen('/changed')?.['x-client']), /^127\.0\.0\.1:/);
    assert.deepEqual([forbidden?.status, forbidden?.body], [403, 'no']);
  });
});
