/** The files of a new filter: a module, its test, and what makes a package of them. */

export interface TemplateFile {
  readonly name: string;
  readonly text: string;
}

export function filterTemplate(name: string, version: string): readonly TemplateFile[] {
  return [
    { name: 'filter.ts', text: moduleText(name) },
    { name: 'filter.test.ts', text: TEST },
    { name: 'package.json', text: `${JSON.stringify(packageOf(name, version), undefined, 2)}\n` },
    { name: 'tsconfig.json', text: `${JSON.stringify(CONFIG, undefined, 2)}\n` },
  ];
}

function moduleText(name: string): string {
  return `// ${name}: tells upstreams which filter has seen a request, and clients how long it took.
import { defineFilter, object, string } from 'sluice/filter';

export default defineFilter({
  schema: object({ header: string().optional('x-seen-by') }),
  state: () => ({ beganMs: 0 }),
  create(settings, context) {
    const seen = context.counter('seen');
    return {
      onRequestHeaders(headers, stream) {
        stream.state.beganMs = performance.now();
        seen.add();
        headers.set(settings.header, context.name);
      },
      onResponseHeaders(headers, stream) {
        const tookMs = performance.now() - stream.state.beganMs;
        headers.set('server-timing', \`filter;dur=\${tookMs.toFixed(1)}\`);
      },
    };
  },
});
`;
}

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveFilter, testFilter } from 'sluice/testing';
import filter from './filter.ts';

test('tells the upstream who has seen the request', async () => {
  const tested = await testFilter(filter, { settings: { header: 'x-by' } });
  const { status, headers, upstream } = await tested.send({ path: '/a' });
  assert.equal(status, 200);
  assert.equal(upstream?.headers.get('x-by'), 'test');
  assert.match(headers.get('server-timing') ?? '', /^filter;dur=/);
  assert.equal(tested.stat('seen'), 1);
});

test('runs in a server', async () => {
  const server = await serveFilter('filter.ts', { upstream: () => ({ body: 'hello' }) });
  try {
    const answer = await fetch(server.url);
    assert.equal(await answer.text(), 'hello');
    assert.equal(await server.stat('seen'), 1);
  } finally {
    await server.close();
  }
});
`;

function packageOf(name: string, version: string): object {
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    exports: './filter.ts',
    scripts: {
      test: 'node --import sluice/register --test filter.test.ts',
      check: 'tsc',
    },
    devDependencies: { sluice: `^${version}`, '@types/node': '^20', typescript: '>=5.4' },
  };
}

const CONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'node16',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: ['node'],
  },
  include: ['*.ts'],
};
