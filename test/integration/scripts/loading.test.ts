import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** The filter's fields begin in line 16. */
function yaml(fields: string, routes = '{}'): string {
  return `static_resources:
  listeners:
  - name: web
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: hcm
        typed_config:
          "@type": ${HCM}
          stat_prefix: web
          route_config: ${routes}
          http_filters:
          - name: mine
            typed_config:
              "@type": type.googleapis.com/sluice.filters.http.script.v1.Script
${fields.replace(/^/gm, '              ')}
          - name: router
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
`;
}

const TYPED = "import { defineFilter, number, object } from 'sluice/filter';\n";

describe('a module that is wrong', () => {
  const cases: readonly (readonly [what: string, module: string, fields: string, told: RegExp])[] =
    [
      [
        'settings that its schema refuses, by their place in the configuration',
        `${TYPED}export default defineFilter({ schema: object({ a: number() }), create: () => ({}) });`,
        'file: FILE\nsettings:\n  a: text\n  b: 1',
        /:18:\d+: .*settings\.a: must be a number[^]*:19:\d+: .*settings\.b: there is no setting 'b'/,
      ],
      [
        'syntax, by its place in the module',
        'export default {\n  a: = 1,\n};',
        'file: FILE',
        /filter\.ts:2:6: .*cannot load the module/,
      ],
      [
        'TypeScript that needs code of its own',
        'enum A { b }\nexport default A;',
        'file: FILE',
        /filter\.ts:1:1: .*enum is not supported/,
      ],
      [
        'an exception while it is loaded',
        "const a: number = 1;\nthrow new Error('at load');",
        'file: FILE',
        /filter\.ts:2:7: .*at load/,
      ],
      ['another export', 'export default 1;', 'file: FILE', /defineFilter\(\)/],
      [
        'a loop without end while it is loaded',
        'for (;;);',
        'file: FILE\nload_timeout: 0.3s',
        /Script execution timed out after 300ms/,
      ],
      [
        'an await at the top that never ends',
        'await new Promise(() => {});\nexport default 1;',
        'file: FILE\nload_timeout: 0.3s',
        /it was not loaded within 300 ms/,
      ],
      ['no module at all', '', 'file: FILE\npackage: also', /exactly one of `file` and `package`/],
      ['a package that is not there', '', 'package: no-such-package', /no-such-package/],
      ['a file that is not there', '', 'file: /no/such.ts', /no\/such\.ts/],
    ];

  it('is refused with its file, line and column', async () => {
    using scratch = makeScratch();
    const told = await Promise.all(
      cases.map(async ([, module, fields], at) => {
        const folder = makeScratch();
        using _ = folder;
        const path = folder.file('filter.ts');
        writeFileSync(path, module);
        const config = scratch.file(`${at}.yaml`);
        writeFileSync(config, yaml(fields.replace('FILE', path)));
        return await runSluice(['--mode', 'validate', '-c', config]);
      }),
    );
    for (const [at, [what, , , wanted]] of cases.entries()) {
      const { code = 0, stderr = '' } = told[at] ?? {};
      assert.equal(code, 1, what);
      assert.match(stderr, wanted, what);
    }
  });

  it('is asked about the settings of routes when they are loaded', async () => {
    using scratch = makeScratch();
    const path = scratch.file('filter.ts');
    const schema = 'object({ a: number().optional(1) })';
    writeFileSync(
      path,
      `${TYPED}export default defineFilter({ schema: ${schema}, create: () => ({}) });`,
    );
    const type = 'type.googleapis.com/sluice.filters.http.script.v1.ScriptPerRoute';
    const of = (settings: string, name = 'mine'): string =>
      `{match: {prefix: /}, direct_response: {status: 200}, typed_per_filter_config: {${name}: {"@type": ${type}, settings: {${settings}}}}}`;
    const check = async (...routes: string[]): Promise<{ code: number | null; stderr: string }> => {
      const config = scratch.file('routes.yaml');
      const host = `{virtual_hosts: [{name: all, domains: ["*"], routes: [${routes.join(', ')}]}]}`;
      writeFileSync(config, yaml(`file: ${path}`, host));
      return await runSluice(['--mode', 'validate', '-c', config]);
    };
    const good = await check(of('a: 2'), of('b: 1', 'of-nobody'));
    assert.equal(good.code, 0, good.stderr);
    const bad = await check(of('a: 2'), of('b: 1'));
    assert.equal(bad.code, 1);
    assert.match(bad.stderr, /routes\.yaml:\d+:\d+: .*settings\.b: there is no setting 'b'/);
  });
});
