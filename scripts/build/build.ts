/**
 * Build steps that come before the main compilation: the API's descriptors and types, the build
 * stamp, the admin pages.
 */
import { join } from 'node:path';
import { writeBuildStamp } from './build-stamp.ts';
import { compileApi } from './compile-api.ts';
import { copyAdminPages } from './copy-admin-pages.ts';

const projectRoot = join(import.meta.dirname, '..', '..', '..');
writeBuildStamp(projectRoot, compileApi(projectRoot));
copyAdminPages(projectRoot);
