/** Mistakes of first days: the answer says what to write, beside Envoy's words. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readRecipe } from '../../../src/commands/example/recipes.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { runSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

interface Mistake {
  readonly what: string;
  readonly recipe: string;
  readonly change: readonly [from: string | RegExp, to: string];
  readonly answer: RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    what: 'a certificate file that is not there',
    recipe: 'tls',
    change: [/filename: cert\.pem([^]*)key\.pem/, 'filename: /etc/none/cert.pem$1/etc/hostname'],
    answer:
      /certificate from \/etc\/none\/cert\.pem: certificate chain not set \(certificate_chain: there is no folder \/etc\/none\)/,
  },
  {
    what: 'a key file that is not there',
    recipe: 'tls',
    change: ['filename: key.pem', 'filename: kei.pem'],
    answer:
      /incomplete private key from path: kei\.pem \(private_key: there is no file \/.*\/kei\.pem\)/,
  },
  {
    what: 'a file of keys that is not there',
    recipe: 'jwt',
    change: ['filename: jwks.json', 'filename: keys.json'],
    answer: /local_jwks\.filename: Invalid path: keys\.json \(there is no file \/.*\/keys\.json\)/,
  },
  {
    what: 'an extension without a type',
    recipe: 'app',
    change: [/typed_config:\s+(?:\{\s*)?'@type': \S*Router\b,?\s*\}?/, 'typed_config: {}\n  '],
    answer: /add typed_config: \{"@type": type\.googleapis\.com\/envoy\.[\w.]+\.Router\}/,
  },
  {
    what: 'a cluster that is not there',
    recipe: 'two-apps',
    change: ['cluster: api,', 'cluster: apii,'],
    answer: /route: unknown cluster 'apii' \(did you mean api\?\)/,
  },
  {
    what: 'a cluster that nothing is like',
    recipe: 'two-apps',
    change: ['cluster: api,', 'cluster: somewhere,'],
    answer: /route: unknown cluster 'somewhere' \(there are app, api\)/,
  },
  {
    what: 'a format command that nobody has',
    recipe: 'json-log',
    change: ['%DURATION%', '%DURATON%'],
    answer: /Not supported field in StreamInfo: DURATON \(did you mean %DURATION%\?\)/,
  },
  {
    what: 'a star without quotes',
    recipe: 'app',
    change: ["domains: ['*']", 'domains: [*]'],
    answer:
      /Alias cannot be an empty string; a text that begins with \* or & stands in quotes: '\*'/,
  },
];

describe('a mistake of the first days', () => {
  for (const { what, recipe, change, answer } of MISTAKES) {
    it(`is answered with what to write: ${what}`, async () => {
      using scratch = makeScratch();
      const { text } = readRecipe(recipe);
      const changed = text.replace(...change);
      assert.notEqual(changed, text);
      writeFileSync(scratch.file('bootstrap.yaml'), changed);
      const { code, stderr } = await runSluice([
        '--mode',
        'validate',
        '-c',
        scratch.file('bootstrap.yaml'),
      ]);
      assert.equal(code, 1);
      assert.match(stderr, answer);
    });
  }

  it('is answered once: two listeners of one name', async () => {
    using scratch = makeScratch();
    const { certPath, keyPath } = makeAuthority(scratch.path);
    const text = readRecipe('tls')
      .text.replace('filename: cert.pem', `filename: ${certPath}`)
      .replace('filename: key.pem', `filename: ${keyPath}`)
      .replace('name: plain\n', 'name: secure\n');
    writeFileSync(scratch.file('bootstrap.yaml'), text);
    const { code, stderr } = await runSluice([
      '--mode',
      'validate',
      '-c',
      scratch.file('bootstrap.yaml'),
    ]);
    assert.equal(code, 0, stderr);
    const warnings = stderr.split('\n').filter((line) => line.includes('[warning]'));
    assert.equal(warnings.length, 1, stderr);
    assert.match(
      warnings[0] ?? '',
      /listeners\[1\]: this listener is not served: listeners\[0\] has the name 'secure' too and is served/,
    );
  });
});
