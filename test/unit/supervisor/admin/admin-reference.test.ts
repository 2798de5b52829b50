import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adminReference } from '../../../../supervisor/admin/admin-reference.ts';
import { adminRoutes } from '../../../../supervisor/admin/admin-routes.ts';
import { createMessageTypes } from '../../../../supervisor/admin/message-types.ts';
import { Profilers } from '../../../../supervisor/profiling/profilers.ts';

test('docs/admin.md says what the routing table says', () => {
  const path = join(import.meta.dirname, '../../../../../docs/admin.md');
  const routes = adminRoutes({ types: createMessageTypes(), profilers: new Profilers() });
  const advice = 'run node dist/scripts/pages/write-pages.js';
  assert.equal(readFileSync(path, 'utf8'), adminReference(routes), advice);
});
