/** `sluice example`: complete bootstraps from the command line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runSluice } from '../../support/programs/sluice.ts';

const examples = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'examples');

describe('sluice example', () => {
  it('prints a recipe as it stands in the documents', async () => {
    const { code, stdout } = await runSluice(['example', 'tls']);
    assert.equal(code, 0);
    assert.equal(stdout, readFileSync(join(examples, 'tls.yaml'), 'utf8'));
  });

  it('lists names and titles', async () => {
    const { stdout } = await runSluice(['example']);
    assert.match(stdout, /^app +Your app behind Sluice\ntls +TLS, and/);
  });

  it('names the nearest recipe', async () => {
    const { code, stderr } = await runSluice(['example', 'gizp']);
    assert.equal(code, 2);
    assert.match(stderr, /^sluice example: no recipe is named gizp; did you mean gzip\?\n/);
  });
});
