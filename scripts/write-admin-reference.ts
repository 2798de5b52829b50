/** Writes docs/admin.md again from the admin's routing table. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminReference } from '../supervisor/admin/admin-reference.ts';
import { adminRoutes } from '../supervisor/admin/admin-routes.ts';
import { createMessageTypes } from '../supervisor/admin/message-types.ts';
import { Profilers } from '../supervisor/profiling/profilers.ts';

const routes = adminRoutes({ types: createMessageTypes(), profilers: new Profilers() });
const path = join(import.meta.dirname, '..', '..', 'docs', 'admin.md');
writeFileSync(path, adminReference(routes));
