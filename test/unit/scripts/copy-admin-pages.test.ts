/** The build's switch for the pages of the admin interface. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { copyAdminPages } from '../../../scripts/build/copy-admin-pages.ts';
import { makeScratch } from '../../support/scratch.ts';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const PAGES = ['supervisor', 'admin', 'html'];

test('SLUICE_ADMIN_HTML=disabled leaves the pages out, those of an earlier build too', () => {
  using scratch = makeScratch();
  mkdirSync(join(scratch.path, ...PAGES), { recursive: true });
  cpSync(join(root, ...PAGES), join(scratch.path, ...PAGES), { recursive: true });
  const script = join(scratch.path, 'dist', ...PAGES, 'admin.js');
  copyAdminPages(scratch.path);
  assert.ok(existsSync(script));
  process.env['SLUICE_ADMIN_HTML'] = 'disabled';
  try {
    copyAdminPages(scratch.path);
    assert.ok(!existsSync(script));
  } finally {
    delete process.env['SLUICE_ADMIN_HTML'];
  }
});
