import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { debUnit } from '../../../scripts/package/deb/deb-unit.ts';
import { manualPages } from '../../../scripts/package/deb/manual-pages.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '..', 'scripts', 'systemd');

describe('the Debian package', () => {
  for (const unit of ['sluice.service', 'sluice@.service']) {
    it(`runs ${unit} as a user that stays, and reloads it by a hot restart`, () => {
      const text = debUnit(readFileSync(join(folder, unit), 'utf8'));
      assert.match(text, /^User=sluice\nGroup=sluice$/m);
      assert.match(text, /^ExecStart=\/usr\/bin\/sluice-restarter -c \/etc\/sluice\//m);
      assert.match(text, /^Type=notify\n(?:.*\n)*ExecReload=\/bin\/kill -HUP \$MAINPID$/m);
      assert.doesNotMatch(text, /DynamicUser|\/usr\/bin\/env/);
    });
  }

  it('refuses a unit of another form', () => {
    assert.throws(() => debUnit('ExecStart=/usr/bin/env node main.js'), /another form/);
  });

  it('has a manual page with every option', () => {
    const page = manualPages('1.2.3').get('man1/sluice.1') ?? '';
    assert.match(page, /^\.B \\-c, \\-\\-config\\-path <string>$/m);
    assert.match(page, /^\.B \\-\\-admin\\-token\\-path/m);
  });
});
